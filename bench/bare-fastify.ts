// BareFastify: the server that svc is compared with: fastify with the counter's routes, each answering a constant.
import fastify from 'fastify';

const app = fastify();
app.get('/counters/:id', async () => ({ value: 5 }));
app.post('/counters/:id', async () => ({ value: 5 }));
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.on('SIGTERM', () => process.exit(0));
