// A room without a server: what it refuses, and with which words.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const room = () => testEntity(module, 'room', 'blue').at('2030-05-01T08:00:00Z');

const at = (hour: string): string => `2030-05-01T${hour}:00.000Z`;
const booking = (number: number, guest: string, from: string, until: string) => ({
  number,
  guest,
  from: at(from),
  until: at(until),
});
const adas = booking(1, 'Ada', '14:00', '15:00');

describe('a room', () => {
  test('is booked, and numbers its bookings', () => {
    room()
      .given([{ type: 'booked', booking: adas }])
      .when('book', { guest: 'Bob', from: at('15:00'), until: at('16:00') })
      .thenEvents([{ type: 'booked', booking: booking(2, 'Bob', '15:00', '16:00') }])
      .thenReply(booking(2, 'Bob', '15:00', '16:00'))
      .query('bookings')
      .thenReply([adas, booking(2, 'Bob', '15:00', '16:00')]);
  });

  test.for([
    ['13:30', '14:01'],
    ['14:00', '15:00'],
    ['14:15', '14:30'],
    ['14:59', '16:00'],
    ['13:00', '16:00'],
  ])('that is taken from 14:00 to 15:00 is not to be had from %s to %s', ([from, until]) => {
    room()
      .given([{ type: 'booked', booking: adas }])
      .when('book', { guest: 'Bob', from: at(from!), until: at(until!) })
      .thenRefused({ code: 'CONFLICT', details: { reason: 'room-taken', until: at('15:00') } })
      .thenNoEvents();
  });

  test('is not booked for a time that has passed', () => {
    const input = { guest: 'Ada', from: at('09:00'), until: at('10:00') };
    room()
      .at(at('09:00'))
      .when('book', input)
      .thenReply(booking(1, 'Ada', '09:00', '10:00'));
    room()
      .at('2030-05-01T09:00:00.001Z')
      .when('book', input)
      .thenRefused({ code: 'UNPROCESSABLE', message: 'from: must not be in the past' });
  });

  test('is booked for eight hours and not for longer', () => {
    room()
      .when('book', { guest: 'Ada', from: at('09:00'), until: at('17:00') })
      .thenReply(booking(1, 'Ada', '09:00', '17:00'));
    room()
      .when('book', { guest: 'Ada', from: at('09:00'), until: at('17:01') })
      .thenRefused('UNPROCESSABLE');
  });

  test('refuses what makes no sense, with the name of the field', () => {
    const good = { guest: 'Ada', from: at('14:00'), until: at('15:00') };
    const refusals: [object, RegExp][] = [
      [{ guest: '  ' }, /^guest: must not be empty$/],
      [{ until: at('14:00') }, /^until: must be after `from`$/],
      [{ from: '2030-02-30T14:00:00Z' }, /^from: must be a date and time/],
    ];
    for (const [change, message] of refusals)
      room()
        .when('book', { ...good, ...change })
        .thenRefused({ code: 'BAD_REQUEST', message });
  });

  test('is free again after a cancellation, and never uses a number twice', () => {
    room()
      .given([{ type: 'booked', booking: adas }])
      .when('cancel', { number: 1 })
      .thenEvents([{ type: 'cancelled', number: 1 }])
      .when('book', { guest: 'Bob', from: adas.from, until: adas.until })
      .thenReply(booking(2, 'Bob', '14:00', '15:00'))
      .when('cancel', { number: 1 })
      .thenRefused('NOT_FOUND')
      .query('booking', { number: 1 })
      .thenRefused({ code: 'NOT_FOUND', message: 'there is no booking 1' });
  });
});
