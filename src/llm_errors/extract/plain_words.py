"""Words that providers, SDKs and HTTP libraries use in error messages about requests.

From a sentence that may repeat a user's text, only these words are exported. The lists contain no names of people, places
or things, no first person and no words of conversation.
"""

import re

PLAIN = frozenset(
    """
    a about above accept accepted accepts access according account action active actual added adding additional adjust
    after again algo all allow allowed allows already also alternate alternating an and another any api appear appears
    application apply are aren argument arguments array arrays as assistant associated at attempt attempted attempts
    attribute attributes audio authentication authorization available back bad base base64 be because been before begin
    beginning between billing block blocked blocks body boolean both but by byte bytes call call-id called calls can
    cannot cant capacity cause caused certificate char character characters chars chat check choice choices chunk
    chunked class clause client closed code codec codes column combination complete completion completions conflict
    conflicting connect connecting connection contact contain contained containing contains content content-policy
    contents context conversation convert correct corresponding corrupted could couldn count country create credentials
    current data day decimal declared decode decoded decoding decrease deeper default defined delete delimiter denied
    deployment deprecated depth description deserialization deserialize details developer dict dictionary did different
    directly disable disabled disallowed disconnected do document documentation documents does doesn don double download
    downloaded due duplicate during each either element elements embedding embeddings empty enabled encode encoded
    encoding end ended endpoint ends ensure entire entity entries entry enum eof equal error errors establish even every
    exactly example exceed exceeded exceeding exceeds exhausted exist exists expect expected expecting expects
    explicitly external extra factor fail failed failing fails failure false feature fetch field fields file files
    filter filtered filters final finish first flag flagged float follow followed following for forbidden format found
    fraction from function functions gateway general generate generated generation get given gives got grammar greater
    greater-than had has have header headers help higher hint history host hour html http https id identifier ids if
    ignored ill ill-formed illegal image images immediately in include included includes including incompatible
    incomplete incorrect incorrectly increase increasing index inference inner input inputs inside instance instead
    instruct instruction instructions int integer integers internal into invalid is isn issue it item items its json key
    key-value keys keyword kind language large larger last later learn least length less less-than level like likely
    limit limited limits line list lists literal located location locations logprobs long longer loss lower made make
    malformed many map mapping match matched matches matching max maximum may mean means media message messages method
    might min minimum minute minutes mismatch mismatched missing mixed mode model models moderation modify more most
    multi multibyte multiple must name named names nan near need needed needs negative nested network new next no non
    non-empty none nonempty not null number numbers object objects occurred of off on one only operation option optional
    options or order organization original os other others otherwise our out output outputs over overloaded own page
    param parameter parameters params parse parsed parser parsing part parts pass passed passing path pattern payload
    peer permission permissions permitted plan please point policies policy port position positive potentially preceding
    preceeding prefix present previous problem process processed processing project prompt prompts properties property
    provide provided provider provides proxy pydantic quota quotas range rate raw reach reached read reason reasoning
    received recognised recognized record refer reference refused regex region reject rejected remove request requested
    requests require required requires reserved reset resets resolution resource respond responding response responses
    result results retired retries retrieve retry retrying return returned right role roles root row rows safety same
    sampling schema schemas second seconds section security see seed send sending sensitive sent sequence server service
    session set sets setting shape short shorter should shouldn signature since single size smaller some something sorry
    source specified specify standard start starting starts statement status stop stream streaming string strings
    structure structured style submit subset such suffix supplied support supported supports surrogate syntax system tag
    tags target temperature template temporarily temporary terminated terms territory text than that the their them then
    there these they thinking this those throttled through time timeout times to together token tokens too tool tools
    top total trailing tried triggered triggering trim true try turn two type types unable unauthorized unavailable
    undeclared undefined under unexpected unexpectedly unicode unique unknown unprocessable unreachable unrecognised
    unrecognized unsupported unterminated until up upgrade upload uploaded upper upstream url urls usage use used user
    uses using utf valid validate validated validation validator value values variable variables vector verification
    verify version versions video violating violation violations visit was we well-formed were what when where whether
    which while whitespace whole window with within without words would wrong xml yet you your yourself zero
    """.split()
)
"""Words of the sentences in API errors, in lower case."""

PARAMETERS = frozenset(
    """
    api-version api_key ascii assistant audio background best_of budget_tokens cache_control candidate_count choices
    citations completion container content contents context_management developer dimensions echo effort enable_thinking
    encoding_format extra_body file_id frequency_penalty function function_call function_declarations functions
    generation_config generationconfig image image_url include input input_audio input_schema inputs instructions
    json_object json_schema latin-1 logit_bias logprobs max_completion_tokens max_output_tokens max_tokens
    max_tokens_to_sample maxoutputtokens messages metadata modalities model n name output parallel_tool_calls parameters
    parts prediction presence_penalty previous_response_id prompt prompt_cache_key properties reasoning
    reasoning_content reasoning_effort redacted_thinking repetition_penalty required response_format responseschema role
    safety_identifier safety_settings schema seed service_tier signature stop stop_sequences store stream stream_options
    strict suffix system temperature text thinking thinkingconfig thought_signature tool tool_call tool_call_id
    tool_calls tool_choice tool_result tool_use tool_use_id tools top_k top_logprobs top_p topk topp truncation type url
    user utf-8 verbosity web_search
    """.split()
)
"""Names of parameters, fields and roles of the APIs, in lower case. A message may quote them."""

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
"""A pattern for names of well-known models, which a message may quote. It accepts no free text."""

SITES = (
    r"(?:[\w-]+\.)*(?:openai\.com|anthropic\.com|claude\.com|google\.com|google\.dev|googleapis\.com|azure\.com|"
    r"microsoft\.com|aka\.ms|aws\.amazon\.com|groq\.com|openrouter\.ai|together\.(?:ai|xyz)|fireworks\.ai|mistral\.ai|"
    r"cohere\.com|deepseek\.com|x\.ai|cerebras\.ai|perplexity\.ai|aliyun\.com|alibabacloud\.com|pydantic\.dev|"
    r"moonshot\.(?:ai|cn)|z\.ai|bigmodel\.cn|nvidia\.com|databricks\.com|writer\.com|litellm\.ai)(?![\w.-]*\w)"
)
"""A pattern for the hosts of providers and of their documentation. Any other address in a message may be a user's file."""

_PATH = re.compile(r"[A-Za-z][\w-]*(?:\[\d{0,4}\]|\.\d{1,4}|\.[A-Za-z][\w-]*)*\Z")
_STEP = re.compile(r"[A-Za-z][\w-]*")
_MODEL = re.compile(MODEL + r"\Z", re.IGNORECASE)


def is_identifier(text: str) -> bool:
    """Whether a text is a parameter of an API, a path of parameters, or the name of a well-known model."""
    if len(text) > 80:
        return False
    if _PATH.match(text) and all(step.lower() in PARAMETERS for step in _STEP.findall(text)):
        return True
    return _MODEL.match(text) is not None
