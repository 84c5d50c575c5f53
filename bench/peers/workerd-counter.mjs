// The counter as a Durable Object of workerd, with its storage on disk, and the worker that forwards requests to it.
import { DurableObject } from 'cloudflare:workers';

export class Counter extends DurableObject {
  async add(amount) {
    const value = (await this.get()) + amount;
    // The answer is not sent before the value is stored: the runtime delays messages after a write.
    void this.ctx.storage.put('value', value);
    return value;
  }

  async get() {
    return (await this.ctx.storage.get('value')) ?? 0;
  }
}

const worker = {
  async fetch(request, environment) {
    const [, , id] = new URL(request.url).pathname.split('/');
    const counter = environment.COUNTERS.get(environment.COUNTERS.idFromName(id));
    const value =
      request.method === 'POST'
        ? await counter.add((await request.json()).amount)
        : await counter.get();
    return Response.json({ value });
  },
};
// oxlint-disable-next-line import/no-default-export -- workerd asks for it
export { worker as default };
