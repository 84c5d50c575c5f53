// SyntaxHabits: what to write instead of TypeScript syntax that AssemblyScript does not have.
//
// Invariant: the first matching rule applies, so a narrow rule comes before a wide one with the same code.
import {
  NOT_IMPLEMENTED,
  IDENTIFIER_EXPECTED,
  TOKEN_EXPECTED,
  UNEXPECTED_TOKEN,
  EXPRESSION_EXPECTED,
  TYPE_EXPECTED,
  INVALID_CHARACTER,
  TYPE_ARGUMENT_EXPECTED,
  CONST_WITHOUT_VALUE,
  LETTER_AFTER_NUMBER,
  NO_IMPLEMENTATION,
  type HabitRule,
} from './habit-rule.ts';

export const NO_WAITING =
  'calls of entities answer at once: use the Result that they give, without async, await and Promise';
export const CLOSURES =
  'a function sees its parameters and what stands at the top level: hand over what it needs, or write a loop';
export const NO_UNDEFINED =
  'there is no undefined: write T | null for a class or a string, and compare with null';
const DESTRUCTURING =
  'there is no destructuring: take each value by itself, const title = book.title; const first = list[0]';
const OBJECT_SPREAD =
  'there is no object spread: copy and assign, const copy = book.clone(); copy.copies = 1; or name every field';
const ARRAY_SPREAD =
  'there is no spread: list.concat([more]) makes a list of both, list.slice(0) a copy';
const FOR_IN =
  'the fields of a class are no list: use a Map<string, T>, const keys = map.keys(); for (let i = 0; i < keys.length; i++) { … }';
export const MAP_LOOP =
  'const keys = map.keys(); for (let i = 0; i < keys.length; i++) { … map.get(keys[i]) … }';

export const SYNTAX_HABITS: readonly HabitRule[] = [
  ...[TOKEN_EXPECTED, EXPRESSION_EXPECTED, TYPE_EXPECTED].map((code) => ({
    code,
    line: /\b(?:async|await)\b/,
    help: NO_WAITING,
  })),

  // --- syntax ---
  {
    code: EXPRESSION_EXPECTED,
    before: /\?$/,
    after: /^\./,
    help: 'there is no ?. operator: take the value into a variable and look, const reader = book.reader; const length = reader !== null ? reader.length : 0',
  },
  {
    code: EXPRESSION_EXPECTED,
    before: /\?$/,
    after: /^\?/,
    help: 'there is no ?? operator: take the value into a variable and look, const reader = book.reader; const name = reader !== null ? reader : "nobody"',
  },
  {
    code: EXPRESSION_EXPECTED,
    line: /^\s*\w+:\s*(?:for|while|do)\b|\b(?:break|continue) \w/,
    help: 'there are no labels: put the loops into a function, and leave them with return',
  },
  { code: IDENTIFIER_EXPECTED, line: /\{[^}]*\.\.\./, help: OBJECT_SPREAD },
  {
    code: IDENTIFIER_EXPECTED,
    line: /function\s*\*/,
    help: 'there are no generators: fill a list and return it',
  },
  {
    code: IDENTIFIER_EXPECTED,
    line: /\b(?:const|let|var)\s*[{[]|[(,]\s*[{[][\w\s,]*[}\]]\s*[:=]/,
    help: DESTRUCTURING,
  },
  {
    code: UNEXPECTED_TOKEN,
    line: /\bsatisfies\b/,
    help: 'write the type: const book: Book = { … }',
  },
  ...[LETTER_AFTER_NUMBER, UNEXPECTED_TOKEN].map((code) => ({
    code,
    line: /\b\d[\d_]*n\b/,
    help: 'i64 and u64 have 64 bits, and their numbers no letter: const big: i64 = 1',
  })),
  {
    code: INVALID_CHARACTER,
    after: /^[\u2018-\u201f]/,
    help: 'write straight quotes, "…": these are typographic ones',
  },
  { code: INVALID_CHARACTER, after: /^#/, help: 'write private in the place of #' },
  ...[CONST_WITHOUT_VALUE, TOKEN_EXPECTED].map((code) => ({
    code,
    line: /\bfor\s*\([^;]*\bin\b/,
    help: FOR_IN,
  })),
  {
    code: TOKEN_EXPECTED,
    line: /^\s*import\s+type\b/,
    help: 'write import { … } without type: what is not used is left out by itself',
  },
  {
    code: TOKEN_EXPECTED,
    line: /^\s*export\s+default\b/,
    help: 'write export before the declaration, and import it by its name',
  },
  {
    code: TYPE_EXPECTED,
    after: /^[{[]/,
    help: 'types of objects and of tuples have no name here: write a class, @data class Place { city: string = ""; }, and use that',
  },
  { code: TYPE_EXPECTED, line: /\bundefined\b/, help: NO_UNDEFINED },
  {
    code: TYPE_EXPECTED,
    after: /^(?:keyof|typeof|infer)\b/,
    help: 'types cannot be computed: write the type out, or use a @data enum for a choice of names',
  },
  {
    code: TYPE_EXPECTED,
    help: 'write the type, name: i32 = 1, get(id: string): Done: only those of variables follow by themselves',
  },
  {
    code: TYPE_ARGUMENT_EXPECTED,
    line: /thenReplyFrom/,
    help: 'thenReplyFrom is called in the class of the entity, with one of its methods: thenReplyFrom(this.summary)',
  },
  {
    code: TYPE_ARGUMENT_EXPECTED,
    line: /\.map\(/,
    help: 'say what the new list holds: list.map<string>((one) => …)',
  },
  {
    code: TYPE_ARGUMENT_EXPECTED,
    line: /[rR]eply\(\{/,
    help: 'an object literal needs a type: const next: Book = { … }; this.reply(next)',
  },
  {
    code: TYPE_ARGUMENT_EXPECTED,
    help: 'write it out: this.refuse<Reply>("…"), refuse<Reply>("…")',
  },
  {
    code: NO_IMPLEMENTATION,
    line: /\bfunction\b/,
    help: 'a function has one form: write several with names of their own, or a default, (copies: i32 = 1)',
  },

  // --- features that AssemblyScript lacks ---
  { code: NOT_IMPLEMENTED, message: /Closures/, help: CLOSURES },
  { code: NOT_IMPLEMENTED, message: /union types/, line: /\bundefined\b/, help: NO_UNDEFINED },
  {
    code: NOT_IMPLEMENTED,
    message: /union types/,
    help: 'a class may be T | null; else write an abstract @data class with a @variant class for each case, or a @data enum for a choice of names',
  },
  {
    code: NOT_IMPLEMENTED,
    message: /Exceptions/,
    help: 'there is nothing to catch: what can fail gives a Result; a throw ends the call',
  },
  {
    code: NOT_IMPLEMENTED,
    message: /Iterators/,
    line: /\.(?:keys|values|entries)\(\)/,
    help: MAP_LOOP,
  },
  {
    code: NOT_IMPLEMENTED,
    message: /Iterators/,
    help: 'for (let i = 0; i < list.length; i++) { … list[i] … }',
  },
  { code: NOT_IMPLEMENTED, message: /Spread/, help: ARRAY_SPREAD },
  {
    code: NOT_IMPLEMENTED,
    message: /'in' operator/,
    help: 'the fields of a class are known: compare with null, or use a Map and map.has("name")',
  },
  {
    code: NOT_IMPLEMENTED,
    message: /Interface hidden classes/,
    help: 'an object literal is made for a class: write class in the place of interface, with a value for each field',
  },
  {
    code: NOT_IMPLEMENTED,
    message: /Regular expressions/,
    help: 'use includes, startsWith, indexOf, split and charCodeAt of the string',
  },
  { code: 2454, help: CLOSURES },
];
