"""Words in which providers, SDKs and HTTP libraries speak of requests: what is left of a sentence that may repeat a
user's text is only what stands here.

Names of people, places and things, first persons and words of a conversation have no place in these lists.
"""

import re

PLAIN = frozenset(
    """
    a about above accept accepted accepts access according account action active actual algo added adding additional after
    again all allow allowed allows already also an and another any api appear appears application apply are argument
    arguments array arrays as assistant associated at attempt attempted attempts audio authentication authorization
    available back bad base64 be because been before begin beginning between block blocks body boolean both but by byte
    bytes call called calls can cannot cant chat char character characters chars chat check choice choices chunk class
    client code codec codes column combination complete completion completions conflict conflicting connection
    contact contain contained containing contains content contents context conversation convert correct corrupted could
    couldn count create credentials current data decimal decode decoded decoding deeper default defined delimiter
    delete deployment deprecated depth description deserialize deserialization details developer dict dictionary did
    different directly disabled disallowed do document documentation documents does doesn don double duplicate during
    each either element elements embedding embeddings empty enabled encode encoded encoding end endpoint ends
    ensure entire entity entries entry enum eof equal error errors even every exactly example exceed exceeded
    exceeds exist exists expect expected expecting expects explicitly external extra factor fail failed failing fails
    failure false feature field fields file files final finish first flag float following follow followed for forbidden
    format found fraction from function functions general generate generated generation get given gives got greater had
    has have header headers help higher history html http https id identifier ids if ignored illegal image images
    immediately in include included includes including incompatible incomplete incorrect incorrectly index ill inner
    inference input inputs inside instance instead instruction instructions instruct int integer integers internal into
    invalid is isn issue it item items its json key keys keyword kind language large larger last later least length less
    level like likely limit limits line list lists literal located location logprobs long longer loss lower made make
    malformed many map mapping match matched matches matching max maximum may mean media message messages method might
    min minimum mismatch mismatched missing mixed mode model models modify more most multiple must name named names nan
    near need needed needs negative nested new next no none non nonempty not null number numbers object objects occurred
    of off on one only operation option optional options or order original other others otherwise out output outputs
    over own page param parameter parameters params parse parsed parser parsing part parts pass passed passing path
    pattern payload permitted please point position positive prefix present previous problem process processed
    processing prompt prompts properties property provide provided provider provides quota range raw reach reached read
    reason reasoning received recognised recognized record refer reference region regex remove request requested
    requests require required requires reserved resource respond response responses result results retry return
    returned right role roles root same schema schemas second seconds section see send sent sequence server
    service session set sets setting shape short shorter should shouldn signature since single size smaller some
    something sorry source specified specify standard start starting starts status stop stream streaming string strings
    structure structured style subset such suffix supplied support supported supports surrogate syntax system tag tags
    temperature template terminated text than that the their them then there these they thinking this those through
    time timeout times to together token tokens too tool tools top total trailing trim true try turn two type types
    unable under undefined unexpected unexpectedly unicode unique unknown unprocessable unrecognised unrecognized
    unsupported until unterminated up upper upstream url urls use used user uses using utf valid validate validated
    validation validator value values variable variables vector version versions video was we were what when where
    whether which while whitespace whole with within without would wrong xml yet you your yourself zero retrying later
    preceding preceeding responding alternate alternating row rows multiple decrease increase increasing target hint
    adjust means aren using triggering triggered modify potentially violating our usage refused ended call-id ids
    denied due reject rejected safety security rate limited exhausted quotas overloaded unavailable temporarily throttled
    sensitive words visit learn upgrade plan billing please check maximum context window exceeding submit
    capacity reset resets minute minutes hour day requests organization project found available deprecated retired
    permission permissions region country territory enabled disable error unauthorized forbidden gateway proxy host port
    name resolution certificate verify verification connect connecting disconnected closed peer chunked sending bad
    cause caused max retries exceeded temporary failed establish refused unreachable network os operation incorrect
    violation violations policy policies terms content-policy moderation flagged filter filtered filters blocked
    multi base sampling seed greater-than less-than well-formed ill-formed non-empty key-value
    """.split()
)
"""What the sentences of API errors are made of, in lower case."""

PARAMETERS = frozenset(
    """
    audio background best_of candidate_count choices completion content contents context_management echo
    enable_thinking encoding_format extra_body file_id frequency_penalty function function_call function_declarations
    functions generation_config generationconfig image image_url include input input_audio input_schema inputs
    instructions json_object json_schema logit_bias logprobs max_completion_tokens max_output_tokens max_tokens
    max_tokens_to_sample maxoutputtokens messages metadata modalities model n name output parallel_tool_calls
    parameters parts prediction presence_penalty previous_response_id prompt prompt_cache_key properties
    reasoning reasoning_content reasoning_effort redacted_thinking repetition_penalty required response_format
    responseschema role safety_identifier safety_settings schema seed service_tier signature stop stop_sequences store
    stream stream_options strict suffix system temperature text thinking thinkingconfig thought_signature tool
    tool_call tool_call_id tool_calls tool_choice tool_result tool_use tool_use_id tools top_k top_logprobs top_p topk
    topp truncation type url user verbosity assistant developer ascii utf-8 latin-1 api_key api-version budget_tokens
    cache_control citations container dimensions effort web_search
    """.split()
)
"""Names of parameters, fields and roles of the APIs, in lower case: a message may quote these and stay readable."""

_SIZE = (
    r"\d[\w.]{0,9}|mini|nano|micro|lite|turbo|preview|latest|pro|flash|fast|instruct|chat|opus|sonnet|haiku|exp|audio|"
    r"realtime|transcribe|tts|search|codex|image|vision|large|medium|small|scout|maverick|versatile|instant|coder|r\d|"
    r"v\d[\d.]{0,3}|thinking|reasoning|oss|max|plus|omni|ada|davinci|babbage|embedding|text|it|hf|distill|llama|qwen"
)
MODEL = (
    r"(?:(?:openai|anthropic|google|meta-llama|meta|mistralai|qwen|deepseek-ai|models|x-ai|us|eu)[/.])?"
    r"(?:chatgpt|gpt|o[1-9]|claude|gemini|gemma|(?:meta-)?llama|mistral|mixtral|qwen|deepseek|grok|command|kimi|glm|phi|"
    r"nova|titan|text-embedding|dall-e|whisper|sora)(?:(?:[-.:@]|(?<=[a-z])(?=\d))(?:" + _SIZE + r"))*"
)
"""Names of well-known models, as a pattern without letters of its own choice: a quoted one of these is kept."""

_PATH = re.compile(r"[A-Za-z][\w-]*(?:\[\d{0,4}\]|\.\d{1,4}|\.[A-Za-z][\w-]*)*\Z")
_STEP = re.compile(r"[A-Za-z][\w-]*")
_MODEL = re.compile(MODEL + r"\Z", re.IGNORECASE)


def is_identifier(text: str) -> bool:
    """Whether a text is a parameter of an API, a path of such, or a well-known model's name: no word of a user's."""
    if len(text) > 80:
        return False
    if _PATH.match(text) and all(step.lower() in PARAMETERS for step in _STEP.findall(text)):
        return True
    return _MODEL.match(text) is not None
