"""A stand-in for the process of claude-agent-sdk: it plays a script of messages, turn by turn, then exits as it is told.

    python claude_process.py -- SCRIPT.json

The script is a list of turns; each turn is a list of messages, and a number in it ends the process with this code.
"""

import json
import sys


def say(message):
    print(json.dumps(message), flush=True)


def main():
    if "-v" in sys.argv or "--version" in sys.argv:
        print("2.9.0 (Claude Code)")
        return
    with open(sys.argv[0] + ".json") as script:
        turns = json.load(script)
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "control_request":
            response = {"subtype": "success", "request_id": request["request_id"], "response": {}}
            say({"type": "control_response", "response": response})
        elif request["type"] == "user":
            for message in turns.pop(0):
                if isinstance(message, int):
                    sys.exit(message)
                say(message)


main()
