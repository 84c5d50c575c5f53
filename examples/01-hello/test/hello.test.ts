// The endpoint without a server: what each request is answered with.
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');

describe('the endpoint', () => {
  test('greets the world in plain text', async () => {
    const answer = await testEndpoints(module).get('/hello');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.text).toBe('Hello, world!');
  });

  test('greets by name in JSON, whatever the script of the name', async () => {
    const hello = testEndpoints(module);
    for (const name of ['Ada', 'Grüße', '世界'])
      expect((await hello.get(`/hello/${name}`)).json).toEqual({ name, text: `Hello, ${name}!` });
  });

  test('has no other path', async () => {
    expect((await testEndpoints(module).get('/hello/Ada/again')).status).toBe(404);
  });
});
