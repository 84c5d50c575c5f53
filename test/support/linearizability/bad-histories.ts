// Bad histories are short histories that no register or counter can have, one or more for each kind of violation. The checker has to
// find each of them. Their format: history-text.ts.

export interface WrittenHistory {
  readonly name: string;
  readonly model: 'register' | 'counter';
  readonly text: string;
}

export const BAD_HISTORIES: readonly WrittenHistory[] = [
  {
    name: 'a stale read after a write was answered',
    model: 'register',
    text: `0-1 set 1
      2-3 set 2
      4-5 get = 1`,
  },
  {
    name: 'a stale read of a total',
    model: 'counter',
    text: `0-1 add 1 = 1
      2-3 add 2 = 3
      4-5 get = 1`,
  },
  {
    name: 'a stale read of the empty register',
    model: 'register',
    text: `0-1 set 1
      2-3 get = 0`,
  },
  {
    name: 'a stale read during a long write, after another read saw it',
    model: 'register',
    text: `0-1 set 1
      2-20 set 2
      3-4 get = 2
      5-6 get = 1`,
  },
  {
    name: 'reads that are not monotonic, of one caller',
    model: 'register',
    text: `0-10 set 1
      0-20 set 2
      1-2 get = 1
      3-4 get = 2
      5-6 get = 1`,
  },
  {
    name: 'totals that fall',
    model: 'counter',
    text: `0-20 add 1 = 1
      0-20 add 2 = 3
      1-2 get = 3
      3-4 get = 1`,
  },
  {
    name: 'two readers who see two writes in different orders',
    model: 'register',
    text: `0-30 set 1
      0-30 set 2
      1-2 get = 1
      1-4 get = 2
      5-6 get = 1
      7-8 get = 2`,
  },
  {
    name: 'a lost write',
    model: 'counter',
    text: `0-1 add 5 = 5
      2-3 add 7 = 7`,
  },
  {
    name: 'a lost write of two that were executed on the same state',
    model: 'counter',
    text: `0-10 add 5 = 5
      0-10 add 7 = 7
      11-12 get = 12`,
  },
  {
    name: 'a write that is lost later',
    model: 'counter',
    text: `0-1 add 5 = 5
      2-3 get = 5
      4-5 add 7 = 12
      6-7 get = 7`,
  },
  {
    name: 'a write that is lost with all that came after it',
    model: 'register',
    text: `0-1 set 1
      2-3 set 2
      4-5 set 3
      6-7 get = 1`,
  },
  {
    name: 'an answer that only the loser of a race could have got',
    model: 'counter',
    text: `0-10 add 1 = 3
      0-10 add 2 = 3`,
  },
  {
    name: 'a write that is executed twice',
    model: 'counter',
    text: `0-1 add 5 = 5
      2-3 get = 10`,
  },
  {
    name: 'a write that is executed again after a later one',
    model: 'register',
    text: `0-1 set 1
      2-3 set 2
      4-5 get = 2
      6-7 get = 1`,
  },
  {
    name: 'a write that is executed before its answer, and again after it',
    model: 'register',
    text: `0-10 set 1
      1-2 get = 1
      3-4 set 2
      5-6 get = 2
      7-8 get = 1`,
  },
  {
    name: 'a read from the future',
    model: 'register',
    text: `0-1 get = 1
      2-3 set 1`,
  },
  {
    name: 'a total from the future',
    model: 'counter',
    text: `0-1 get = 4
      2-3 add 4 = 4`,
  },
  {
    name: 'an answer that counts an operation from the future',
    model: 'counter',
    text: `0-1 add 1 = 3
      2-3 add 2 = 2`,
  },
  {
    name: 'a read from the future of an operation whose outcome is unknown',
    model: 'register',
    text: `0-1 get = 1
      2-3 set 1 ?`,
  },
  {
    name: 'a value that nobody has set',
    model: 'register',
    text: `0-1 set 1
      2-3 get = 9`,
  },
  {
    name: 'a total that no operations have',
    model: 'counter',
    text: `0-10 add 3 = 3
      0-10 add 5 ?
      11-12 get = 4`,
  },
  {
    name: 'a 504 that happens twice',
    model: 'counter',
    text: `0-1 add 5 ?
      2-3 get = 5
      4-5 get = 10`,
  },
  {
    name: 'a 504 that happens again after a later write',
    model: 'register',
    text: `0-1 set 1 ?
      2-3 get = 1
      4-5 set 2
      6-7 get = 2
      8-9 get = 1`,
  },
  {
    name: 'a 504 that happens, and is lost',
    model: 'counter',
    text: `0-1 add 5 ?
      2-3 get = 5
      4-5 get = 0`,
  },
  {
    name: 'a 504 that happens only for one of two readers',
    model: 'register',
    text: `0-1 set 1
      2-3 set 2 ?
      4-5 get = 2
      6-7 get = 1
      8-9 get = 2`,
  },
  {
    name: 'two 504 of which three happen',
    model: 'counter',
    text: `0-1 add 5 ?
      0-1 add 5 ?
      2-3 get = 15`,
  },
  {
    name: 'a 503 that has happened',
    model: 'counter',
    text: `0-1 add 5 503
      2-3 get = 5`,
  },
  {
    name: 'a 503 whose value is read',
    model: 'register',
    text: `0-1 set 1
      0-9 set 2 503
      2-3 get = 2`,
  },
  {
    name: 'a 503 that has deleted',
    model: 'register',
    text: `0-1 set 1
      2-3 delete 503
      4-5 get = 0`,
  },
  {
    name: 'a key that is answered differently',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 add 1 = 6
      4-5 k: add 5 = 6`,
  },
  {
    name: 'a key that is executed twice',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 5 = 10`,
  },
  {
    name: 'a key that is executed twice, with the first answer',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 5 = 5
      4-5 get = 10`,
  },
  {
    name: 'a key that is executed twice at the same time',
    model: 'counter',
    text: `0-9 k: add 5 = 5
      0-9 k: add 5 = 5
      10-11 get = 10`,
  },
  {
    name: 'a key that is executed by a 504 and again by its repetition',
    model: 'counter',
    text: `0-1 k: add 5 ?
      2-3 get = 5
      4-5 k: add 5 = 10`,
  },
  {
    name: 'a key that is executed by its repetition and later by the 504',
    model: 'register',
    text: `0-1 k: set 1 ?
      2-3 k: set 1
      4-5 set 2
      6-7 get = 2
      8-9 get = 1`,
  },
  {
    name: 'a key that is answered before it was executed',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 get = 0
      4-5 k: add 5 = 5
      6-7 get = 5`,
  },
  {
    name: 'a key whose first attempt was 503 and has happened besides',
    model: 'counter',
    text: `0-1 k: add 5 503
      2-3 k: add 5 = 10`,
  },
  {
    name: 'a key whose first attempt was 503, and is seen before the second',
    model: 'counter',
    text: `0-1 k: add 5 503
      2-3 get = 5
      4-5 k: add 5 = 5`,
  },
  {
    name: 'a key that is executed with another input',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 6 = 11`,
  },
  {
    name: 'a key with another input that is refused and executed',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 6 422
      4-5 get = 11`,
  },
  {
    name: 'a key that is refused as used before, and was not',
    model: 'counter',
    text: `0-1 add 5 = 5
      2-3 k: add 6 422`,
  },
  {
    name: 'a key that is refused as used before its first use',
    model: 'counter',
    text: `0-1 k: add 5 422
      2-3 k: add 6 = 6`,
  },
  {
    name: 'a key that is refused as used after a 503 alone',
    model: 'counter',
    text: `0-1 k: add 5 503
      2-3 k: add 6 422`,
  },
  {
    name: 'a key that is refused as used with another input, and has the same',
    model: 'counter',
    text: `0-1 k: add 5 = 5
      2-3 k: add 5 422`,
  },
  {
    name: 'a key that is refused as used by a 504 that has not happened by then',
    model: 'counter',
    text: `0-1 k: add 5 ?
      2-3 k: add 6 422
      4-5 get = 0`,
  },
  {
    name: 'a resurrection after a deletion',
    model: 'register',
    text: `0-1 set 1
      2-3 delete
      4-5 get = 1`,
  },
  {
    name: 'a resurrection after the deletion was read',
    model: 'register',
    text: `0-1 set 1
      2-20 delete
      3-4 get = 0
      5-6 get = 1`,
  },
  {
    name: 'a deletion by a 504 that is taken back',
    model: 'register',
    text: `0-1 set 1
      2-3 delete ?
      4-5 get = 0
      6-7 get = 1`,
  },
  {
    name: 'a deletion by a 504 that happens twice',
    model: 'register',
    text: `0-1 set 1
      2-3 delete ?
      4-5 get = 0
      6-7 set 2
      8-9 get = 0`,
  },
  {
    name: 'a key that is executed again after a deletion',
    model: 'register',
    text: `0-1 k: set 1
      2-3 delete
      4-5 k: set 1
      6-7 get = 1`,
  },
  {
    name: 'a violation between unknown outcomes that explain nothing',
    model: 'counter',
    text: `0-1 add 100 ?
      0-1 add 200 ?
      0-1 add 400 ?
      2-3 add 1 = 1
      4-5 add 2 = 103
      6-7 get = 303
      8-9 add 4 = 307
      10-11 get = 306`,
  },
];
