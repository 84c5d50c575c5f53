// The site: a web server without any code of svc. It knows the prices, and mails receipts, each once.
import { createServer } from 'node:http';

const PRICES = new Map([
  ['lamp', 4900],
  ['chair', 12_900],
]);
/** Keys of the receipts that were mailed. A real server keeps them on disk. */
const mailed = new Set();

const server = createServer((request, response) => {
  const answer = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  const [, area, name = ''] = new URL(request.url, 'http://site').pathname.split('/');
  if (area === 'prices') {
    const cents = PRICES.get(decodeURIComponent(name));
    if (cents === undefined) return answer(404, { error: `nobody sells ${name}` });
    return answer(200, { article: name, cents });
  }
  if (area === 'receipts' && request.method === 'POST') {
    mailed.add(request.headers['idempotency-key']);
    return answer(201, { mailed: mailed.size });
  }
  if (area === 'receipts') return answer(200, { mailed: mailed.size });
  response.end('The shop is at /shop.\n');
});
server.listen(Number(process.env.PORT), '127.0.0.1');
