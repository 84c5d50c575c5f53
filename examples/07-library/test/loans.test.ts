// Lending and returning over HTTP, without a server: what is left behind however a request ends, and what a caller is told.
import { type FakeCall, refused, timedOut, unavailable } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { desk, library, withKey } from './support/library.ts';
import { DUNE, EMMA, UNKNOWN, dayOf } from './support/samples.ts';

const adasLoan = `/members/ada/loans/${DUNE}`;
const bobsLoan = `/members/bob/loans/${DUNE}`;
type Api = Awaited<ReturnType<typeof library>>;

const typesOf = async (api: Api, component: string, id: string): Promise<string[]> =>
  ((await api.events(component, id)) as { type: string }[]).map(({ type }) => type);
const lendings = async (api: Api): Promise<unknown> =>
  (await desk(api).get(`/titles/${DUNE}/lendings`)).json;

/** A title or a member that fails once at the step, and is then as given. */
const failingOnce = (step: string, failure: unknown, reply: (call: FakeCall) => unknown) => {
  const calls: FakeCall[] = [];
  let failed = false;
  const answer = (call: FakeCall): unknown => {
    calls.push(call);
    if (call.name !== step || failed) return reply(call);
    failed = true;
    return failure;
  };
  return { answer, calls };
};

const noCopy = () => refused('CONFLICT', 'there is no free copy');

describe('lending', () => {
  test('is answered with 201 the first time, and with 200 and the same loan ever after', async () => {
    const api = await library();
    const lent = await api.put(adasLoan);
    expect(lent.status).toBe(201);
    expect(lent.headers['location']).toBe(adasLoan);
    expect(lent.json).toMatchObject({ number: 1, isbn: DUNE, status: 'Running', due: dayOf(28) });
    const again = await api.put(adasLoan);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(lent.json);
    expect((await api.get(adasLoan)).json).toEqual(lent.json);
    expect(await lendings(api)).toEqual([{ member: 'ada', loan: 1 }]);
  });

  test('works for members with any id', async () => {
    const api = await library();
    const path = `/members/${encodeURIComponent('zoë/1 €')}`;
    await api.put(path, { name: 'Zoë' });
    const lent = await api.put(`${path}/loans/${DUNE}`);
    expect(lent.status).toBe(201);
    expect(lent.headers['location']).toBe(`${path}/loans/${DUNE}`);
  });

  test('by many requests at a time happens once', async () => {
    const api = await library();
    const answers = await Promise.all(Array.from({ length: 8 }, async () => api.put(adasLoan)));
    for (const { status } of answers) expect([200, 201]).toContain(status);
    expect(await typesOf(api, 'member', 'ada')).toEqual([
      'joined',
      'loan-requested',
      'loan-started',
    ]);
    expect(await lendings(api)).toEqual([{ member: 'ada', loan: 1 }]);
  });

  test('of the last copy to many members at a time gives it to one', async () => {
    const api = await library();
    const answers = await Promise.all([adasLoan, bobsLoan].map(async (path) => api.put(path)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(await lendings(api)).toHaveLength(1);
  });

  test('is undone at the member when the title has no copy', async () => {
    const api = await library();
    await api.put(adasLoan);
    const none = await api.put(bobsLoan);
    expect(none.json).toEqual({
      status: 409,
      error: 'there is no free copy',
      details: { reason: 'no-copy', copies: 1, waiting: 0 },
    });
    expect(await typesOf(api, 'member', 'bob')).toEqual([
      'joined',
      'loan-requested',
      'loan-withdrawn',
    ]);
    expect((await api.get(bobsLoan)).status).toBe(404);

    await api.delete(adasLoan);
    expect((await api.put(bobsLoan)).json.number).toBe(2);
  });

  test('is for members and titles that exist', async () => {
    const api = await library();
    expect((await api.put(`/members/nobody/loans/${DUNE}`)).status).toBe(404);
    expect((await api.put(`/members/ada/loans/${UNKNOWN}`)).json).toEqual({
      status: 404,
      error: `there is no title ${UNKNOWN}`,
    });
    expect((await api.get('/members/ada/loans')).json).toEqual([]);
  });
});

describe('lending that is cut', () => {
  test.for([
    ['unavailable', unavailable(), 503],
    ['without an answer', timedOut(), 504],
  ] as const)('by a title that is %s is not undone, and completed by a repetition', async (row) => {
    const [, failure, status] = row;
    const title = failingOnce('lend', failure, () => undefined);
    const api = await library({ components: { title: title.answer } });
    expect((await api.put(adasLoan)).status).toBe(status);
    expect((await api.get(adasLoan)).json.status).toBe('Requested');

    expect((await api.put(adasLoan)).status).toBe(201);
    expect((await api.get(adasLoan)).json.status).toBe('Running');
    const asked = title.calls.filter(({ name }) => name === 'lend');
    expect(asked.map(({ input }) => input)).toEqual([
      { member: 'ada', loan: 1 },
      { member: 'ada', loan: 1 },
    ]);
  });

  test.for([
    ['unavailable', unavailable(), 503],
    ['without an answer', timedOut(), 504],
  ] as const)('in its undoing, %s, is no 409: a repetition undoes it', async (row) => {
    const [, failure, status] = row;
    const loan = { number: 1, isbn: DUNE, status: 'Requested', due: dayOf(28), renewals: 0 };
    const member = failingOnce('withdraw-loan', failure, ({ name }) =>
      name === 'request-loan' ? { ...loan, receipt: null } : undefined,
    );
    const api = await library({ components: { member: member.answer, title: noCopy } });
    expect((await api.put(adasLoan)).status).toBe(status);

    expect((await api.put(adasLoan)).json).toEqual({ status: 409, error: 'there is no free copy' });
    expect(member.calls.filter(({ name }) => name === 'withdraw-loan')).toHaveLength(2);
  });

  test('at its last step is completed by a repetition', async () => {
    const loan = { number: 1, isbn: DUNE, status: 'Requested', due: dayOf(28), renewals: 0 };
    const member = failingOnce('start-loan', timedOut(), ({ name }) =>
      name === 'join' ? undefined : { ...loan, receipt: null },
    );
    const api = await library({ components: { member: member.answer } });
    expect((await api.put(adasLoan)).status).toBe(504);
    expect((await api.put(adasLoan)).status).toBe(201);
    expect(await lendings(api)).toEqual([{ member: 'ada', loan: 1 }]);
  });
});

describe('returning', () => {
  test('is answered with a receipt, and the next member gets the book', async () => {
    const api = await library();
    await api.put(adasLoan);
    const returned = await api.delete(adasLoan);
    expect(returned.status).toBe(200);
    expect(returned.json).toMatchObject({ number: 1, isbn: DUNE, daysLate: 0, fee: '0.00' });
    expect((await api.delete(adasLoan)).status).toBe(404);
    expect((await api.put(bobsLoan)).status).toBe(201);
  });

  test('with a key is answered with the first receipt when it is repeated', async () => {
    const api = await library();
    await api.put(adasLoan);
    const key = withKey();
    const returned = await api.request('DELETE', adasLoan, key);
    expect((await api.request('DELETE', adasLoan, key)).json).toEqual(returned.json);
  });

  test('that is cut at the title has one receipt, and is completed by a repetition', async () => {
    let cuts = 0;
    const title = ({ name }: FakeCall): unknown =>
      name === 'take-back' && (cuts += 1) === 1 ? timedOut() : undefined;
    const api = await library({ components: { title } });
    await api.put(adasLoan);
    expect((await api.delete(adasLoan)).status).toBe(504);
    const returning = (await api.get(adasLoan)).json;
    expect(returning.status).toBe('Returning');
    expect((await api.put(adasLoan)).json.status).toBe('Returning');
    expect((await api.delete(adasLoan)).json).toEqual(returning.receipt);
    expect((await api.get(adasLoan)).status).toBe(404);
  });
});

describe('renewing', () => {
  const renewals = `${adasLoan}/renewals`;

  test('needs a key, and happens once for each', async () => {
    const api = await library();
    await api.put(adasLoan);
    expect((await api.post(renewals)).status).toBe(400);
    const key = withKey();
    for (let time = 1; time <= 2; time++) {
      const renewed = await api.request('POST', renewals, key);
      expect(renewed.json).toMatchObject({ renewals: 1, due: dayOf(28) });
    }
    expect((await api.request('POST', renewals, withKey())).json.renewals).toBe(2);
  });

  test('is refused while somebody waits, but not to who asks again for what was done', async () => {
    const api = await library();
    await api.put(adasLoan);
    const key = withKey();
    await api.request('POST', renewals, key);
    await api.put(`/titles/${DUNE}/reservations/bob`);
    expect((await api.request('POST', renewals, key)).json.renewals).toBe(1);
    expect((await api.request('POST', renewals, withKey())).json).toEqual({
      status: 409,
      error: 'somebody waits for the book',
    });
  });
});

describe('the books of a member', () => {
  test('are found by the day on which they are due', async () => {
    const api = await library();
    for (const isbn of [DUNE, EMMA]) await api.put(`/members/ada/loans/${isbn}`);
    const numbers = async (query: Record<string, string>): Promise<number[]> =>
      (await api.get('/members/ada/loans', { query })).json.map(
        ({ number }: { number: number }) => number,
      );
    expect(await numbers({})).toEqual([1, 2]);
    expect(await numbers({ overdue: 'true' })).toEqual([]);
    expect(await numbers({ dueBefore: dayOf(28) })).toEqual([]);
    expect(await numbers({ dueBefore: dayOf(29) })).toEqual([1, 2]);
    expect((await api.get('/members/ada/loans?overdue=yes')).status).toBe(400);
    expect((await api.get('/members/nobody/loans')).status).toBe(404);
  });
});
