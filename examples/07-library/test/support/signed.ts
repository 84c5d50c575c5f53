// The headers by which a payment service signs a report, at the time of the tests.
import { createHmac } from 'node:crypto';
import { dayOf } from './samples.ts';

export function signed(body: string, key: string) {
  const timestamp = dayOf(0);
  const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('base64');
  return { 'x-hook-timestamp': timestamp, 'x-hook-signature': signature };
}
