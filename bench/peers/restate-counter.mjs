// The counter as a Virtual Object of Restate. Prints the address that it serves at; port 0 takes a free one.
import { handlers, object, serve } from '@restatedev/restate-sdk';

const counter = object({
  name: 'Counter',
  handlers: {
    add: async (context, { amount }) => {
      const value = ((await context.get('value')) ?? 0) + amount;
      context.set('value', value);
      return { value };
    },
    get: handlers.object.shared(async (context) => ({ value: (await context.get('value')) ?? 0 })),
  },
});

const port = await serve({ services: [counter], port: 0 });
console.log(`http://127.0.0.1:${port}`);
