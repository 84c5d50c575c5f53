// EncodedReply: a reply that is decoded without its text is the reply that its text says.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { codecOf } from '../../components/codec.ts';

test.each<readonly [string, Type.TSchema, unknown]>([
  [
    'plain forms',
    Type.Object({
      text: Type.String(),
      at: Type.String({ format: 'date-time' }),
      list: Type.Array(Type.Object({ n: Type.Integer(), x: Type.Number() })),
      map: Type.Record(Type.String(), Type.Boolean()),
      none: Type.Union([Type.String(), Type.Null()]),
      absent: Type.Optional(Type.String()),
    }),
    {
      text: 'a',
      at: '2026-02-28T12:30:00Z',
      list: [{ n: 1, x: 0.5 }],
      map: { __proto__: null, a: true },
      none: null,
    },
  ],
  [
    'cases',
    Type.Union([
      Type.Object({ type: Type.Literal('a'), n: Type.Integer() }),
      Type.Object({ type: Type.Literal('b') }),
    ]),
    { type: 'a', n: 1 },
  ],
  ['a large integer', Type.Object({ n: Type.BigInt() }), { n: 2n ** 60n }],
  [
    'a form of its own',
    Type.Codec(Type.String())
      .Decode((text) => new URL(text))
      .Encode((url) => url.href),
    new URL('http://a/'),
  ],
  ['a default', Type.Object({ list: Type.Array(Type.String(), { default: ['a'] }) }), {}],
])(
  'what is encoded, of %s, decodes without its text as it does with it',
  (_name, schema, value) => {
    const it = codecOf(schema, 'it');
    const direct = it.decodeEncoded(it.encodeValue(value, 'it'), 'it');
    expect(direct).toStrictEqual(it.decode(it.encode(value, 'it'), 'it'));
    expect(direct).not.toBe(value);
  },
);
