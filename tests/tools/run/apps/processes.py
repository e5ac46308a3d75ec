"""An application whose calls are made in other processes too: `python processes.py URL HOW`."""

import multiprocessing
import subprocess
import sys

import openai

CALL = "import sys; sys.argv = ['', *sys.argv[1:]]; from processes import ask; ask(sys.argv[1])"


def ask(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="test", max_retries=0)
    client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": "hello"}])


if __name__ == "__main__":
    url, how = sys.argv[1:3]
    ask(url)
    if how == "interpreter":  # as a server of notebooks starts its kernels
        subprocess.run([sys.executable, "-c", CALL, url], check=True)
    else:
        context = multiprocessing.get_context(how)
        child = context.Process(target=ask, args=(url,))
        child.start()
        child.join()
    ask(url)
