// A request that never arrives whole, which keeps a stop waiting.
import { once } from 'node:events';
import { request } from 'node:http';

/** POSTs a part of a body to `url`, and waits until the server has begun with it. Gives what ends it. */
export async function stuckRequest(url: string): Promise<() => Promise<void>> {
  const stuck = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': '100',
      expect: '100-continue',
    },
  });
  // It ends with an error: its server's end, or its own.
  const ended = new Promise<void>((resolve) => {
    stuck.on('error', () => resolve());
  });
  stuck.flushHeaders();
  // Only who has read the request's head says this.
  await once(stuck, 'continue');
  stuck.write('{');
  return async () => {
    stuck.destroy(new Error('enough'));
    await ended;
  };
}
