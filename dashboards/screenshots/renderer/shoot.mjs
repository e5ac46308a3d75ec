// node shoot.mjs DASHBOARDS OUT STORY THEMES PROMETHEUS NOW LOGS
// Draws each DASHBOARDS/*.json at the time NOW (seconds) and writes OUT/<uid>-STORY[-light].png for the story that the data tell.
// THEMES is `dark` or `dark,light`; light is drawn of the overview only. Queries go to PROMETHEUS; panels over logs and traces are
// filled from the file LOGS (rows by panel title), since no Loki and no Tempo run here. Exit 1 if a query fails or, in an incident,
// a panel stays empty.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

const [dashboards, out, story, themes, prometheus, now, logs] = process.argv.slice(2);
const home = path.dirname(new URL(import.meta.url).pathname);
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.json': 'application/json' };
const browserPath = process.env.CHROMIUM || '/usr/bin/chromium';
const width = 1680;

async function answer(request, response) {
  const url = new URL(request.url, 'http://page');
  if (url.pathname.startsWith('/prometheus/')) {
    const upstream = await fetch(prometheus + url.pathname.slice('/prometheus'.length) + url.search);
    response.writeHead(upstream.status, { 'content-type': 'application/json' });
    return response.end(await upstream.text());
  }
  const places = { '/': path.join(home, 'index.html'), '/logs.json': logs };
  const board = url.pathname.match(/^\/board\/([\w-]+\.json)$/);
  const asset = url.pathname.match(/^\/dist\/([\w.-]+)$/);
  const file = places[url.pathname] ?? (board && path.join(dashboards, board[1])) ?? (asset && path.join(home, 'dist', asset[1]));
  if (!file || !fs.existsSync(file)) {
    response.writeHead(404);
    return response.end();
  }
  response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  return response.end(fs.readFileSync(file));
}

async function shoot(browser, address, name, theme) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 1000 });
  await page.evaluateOnNewDocument((millis) => {
    Date.now = () => millis; // "2 hours ago" must not depend on the day of the screenshot
  }, now * 1000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${address}/?board=${name}&now=${now}&width=${width}&theme=${theme}&story=${story}`);
  await page.waitForFunction('window.settled', { timeout: 60000 });
  const drawn = () => [...document.querySelectorAll('[role="grid"]')].filter((grid) => grid.querySelector('[role="gridcell"]')).length >= window.tables;
  await page.waitForFunction(drawn, { timeout: 60000 });
  await new Promise((resolve) => setTimeout(resolve, 3000));
  problems.push(...(await page.evaluate('window.problems')));
  const file = [path.basename(name, '.json'), story, ...(theme === 'light' ? [theme] : [])].join('-');
  await page.screenshot({ path: path.join(out, `${file}.png`), fullPage: true });
  await page.close();
  return problems.map((problem) => `${name}: ${problem}`);
}

const server = http.createServer((request, response) =>
  answer(request, response).catch((error) => {
    response.writeHead(502, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'error', error: String(error) }));
  }),
);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const args = ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'];
const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, args });
const problems = [];
try {
  for (const name of fs.readdirSync(dashboards).filter((file) => file.endsWith('.json')).sort()) {
    for (const theme of themes.split(','))
      if (theme === 'dark' || name === 'llm-overview.json')
        problems.push(...(await shoot(browser, `http://127.0.0.1:${server.address().port}`, name, theme)));
  }
} finally {
  await browser.close();
  server.close();
}
problems.forEach((problem) => console.error(problem));
process.exit(problems.length ? 1 : 0);
