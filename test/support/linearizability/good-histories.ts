// Good histories are short histories that look wrong and are linearizable. The checker has to accept each of them. Their format:
// history-text.ts.
import type { WrittenHistory } from './bad-histories.ts';

export const GOOD_HISTORIES: readonly WrittenHistory[] = [
  {
    name: 'a read of an old value while a write is not answered',
    model: 'register',
    text: `0-1 set 1
      2-20 set 2
      3-4 get = 1
      5-6 get = 2`,
  },
  {
    name: 'a read of a write that ends later',
    model: 'register',
    text: `0-20 set 1
      1-2 get = 1`,
  },
  {
    name: 'attempts that touch in one moment',
    model: 'register',
    text: `0-1 set 1
      1-2 set 2
      2-3 get = 1`,
  },
  {
    name: 'concurrent additions whose answers have another order than their ends',
    model: 'counter',
    text: `0-10 add 1 = 7
      0-8 add 2 = 6
      0-6 add 4 = 4`,
  },
  {
    name: 'a 504 that has happened at once',
    model: 'counter',
    text: `0-1 add 5 ?
      2-3 get = 5`,
  },
  {
    name: 'a 504 that has never happened',
    model: 'counter',
    text: `0-1 add 5 ?
      2-3 add 1 = 1`,
  },
  {
    name: 'a 504 that happens long after its answer',
    model: 'register',
    text: `0-1 set 1 ?
      2-3 get = 0
      4-5 set 2
      6-7 get = 2
      8-9 get = 1`,
  },
  {
    name: 'a 504 that has happened before its answer',
    model: 'register',
    text: `0-20 set 1 ?
      1-2 get = 1
      3-4 set 2
      5-6 get = 2`,
  },
  {
    name: 'two equal 504 of which one has happened, and later the other',
    model: 'counter',
    text: `0-1 add 5 ?
      0-1 add 5 ?
      2-3 get = 5
      4-5 get = 10`,
  },
  {
    name: 'several 504 that explain a total together',
    model: 'counter',
    text: `0-1 add 10 ?
      0-1 add 20 ?
      0-1 add 40 ?
      2-3 get = 50
      4-5 add 1 = 71`,
  },
  {
    name: 'several 504 of which two sums explain a total, and one the next',
    model: 'counter',
    text: `0-1 add 10 ?
      0-1 add 20 ?
      0-1 add 30 ?
      0-1 add 15 ?
      2-3 get = 30
      4-5 get = 50`,
  },
  {
    name: 'a deletion by a 504 between two reads',
    model: 'register',
    text: `0-1 set 1
      2-3 delete ?
      4-5 get = 1
      6-7 get = 0`,
  },
  {
    name: 'a 503 that has not happened',
    model: 'counter',
    text: `0-1 add 5 503
      2-3 add 1 = 1`,
  },
  {
    name: 'a key that is answered again as the first time',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 add 1 = 6
      4-5 k: add 5 = 5
      6-7 get = 6`,
  },
  {
    name: 'a key whose second attempt ends before the first',
    model: 'counter',
    text: `0-20 k: add 5 = 5
      1-2 k: add 5 = 5
      3-4 add 1 = 6`,
  },
  {
    name: 'a key whose 504 has happened, and answers the repetition',
    model: 'counter',
    text: `0-1 k: add 5 ?
      2-3 add 1 = 6
      4-5 k: add 5 = 5`,
  },
  {
    name: 'a key whose repetition is executed after a 504',
    model: 'counter',
    text: `0-1 k: add 5 ?
      2-3 add 1 = 1
      4-5 k: add 5 = 6`,
  },
  {
    name: 'a key that is executed after a 503',
    model: 'counter',
    text: `0-1 k: add 5 503
      2-3 add 1 = 1
      4-5 k: add 5 = 6`,
  },
  {
    name: 'a key that is repeated after a deletion',
    model: 'register',
    text: `0-1 k: set 1
      2-3 delete
      4-5 k: set 1
      6-7 get = 0`,
  },
  {
    name: 'a key with another input that is refused',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 6 422
      4-5 get = 5`,
  },
  {
    name: 'a key with another input that is refused because of a 504',
    model: 'counter',
    text: `0-1 k: add 5 ?
      2-3 k: add 6 422
      4-5 get = 5`,
  },
  {
    name: 'a key that wins against another input at the same time',
    model: 'counter',
    text: `0-9 k: add 5 422
      1-8 k: add 6 = 6
      10-11 get = 6`,
  },
];
