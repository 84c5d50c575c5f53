// The rooms over HTTP, without a server: statuses, headers, and what a refusal looks like to a caller.
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const path = '/rooms/blue/bookings';
const input = { guest: 'Ada', from: '2030-05-01T14:00:00Z', until: '2030-05-01T15:00:00Z' };

describe('a booking', () => {
  test('is answered with 201 and where it is to be found', async () => {
    const rooms = testEndpoints(module);
    const booked = await rooms.post(path, input);
    expect(booked.status).toBe(201);
    expect(booked.headers['location']).toBe(`${path}/1`);
    expect((await rooms.get(booked.headers['location']!)).json).toEqual(booked.json);
  });

  test('of a room that is taken is 409, with details for a program', async () => {
    const rooms = testEndpoints(module);
    await rooms.post(path, input);
    const taken = await rooms.post(path, { ...input, guest: 'Bob' });
    expect(taken.status).toBe(409);
    expect(taken.json).toEqual({
      status: 409,
      error: 'the room is taken then',
      details: { reason: 'room-taken', until: '2030-05-01T15:00:00.000Z' },
    });
    expect((await rooms.post('/rooms/red/bookings', input)).status).toBe(201);
  });

  test('has a status for every way to be wrong', async () => {
    const rooms = testEndpoints(module);
    const statusOf = async (change: object): Promise<number> =>
      (await rooms.post(path, { ...input, ...change })).status;
    expect(await statusOf({ from: 'tomorrow' })).toBe(400);
    expect(await statusOf({ until: input.from })).toBe(400);
    expect(await statusOf({ until: '2030-05-02T14:00:00Z' })).toBe(422);
    expect((await rooms.get(`${path}/1`)).status).toBe(404);
    expect((await rooms.delete(`${path}/1`)).status).toBe(404);
    expect((await rooms.get(path)).json).toEqual([]);
  });

  test('is cancelled with 204', async () => {
    const rooms = testEndpoints(module);
    await rooms.post(path, input);
    expect((await rooms.delete(`${path}/1`)).status).toBe(204);
    expect((await rooms.get(path)).json).toEqual([]);
  });
});
