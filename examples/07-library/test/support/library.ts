// A library over HTTP, without a server: two titles on the shelf of novels, two members, and a librarian who may do more.
import { type EndpointsUnderTest, testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { DESCRIPTIONS, DUNE, EMMA } from './samples.ts';

export const module = await testModule('assembly/index.ts');
export const PAYMENT_KEY = 'the key of the tests';
export const configuration = { feePerDay: '0.25', paymentKey: PAYMENT_KEY };
/** The endpoints as a librarian calls them. */
export const desk = (api: EndpointsUnderTest) => api.as({ subject: 'mary', roles: ['librarian'] });

type Options = Parameters<typeof testEndpoints>[1];

/** One copy of each title; Ada and Bob are members. */
export async function library(options: Options = {}) {
  const api = testEndpoints(module, { configuration, ...options });
  for (const isbn of [DUNE, EMMA] as const)
    await api.post('/shelves/novels/titles', { isbn, description: DESCRIPTIONS[isbn] });
  for (const [id, name] of [
    ['ada', 'Ada'],
    ['bob', 'Bob'],
  ])
    await api.put(`/members/${id}`, { name });
  return api;
}

let keys = 0;

/** The options of a request that says which request it is. */
export function withKey(key = `key-${(keys += 1)}`) {
  return { headers: { 'idempotency-key': key } };
}
