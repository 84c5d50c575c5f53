// TypeHabits: what to write instead of values, types and members that AssemblyScript treats differently from
// TypeScript.
//
// Invariant: the first matching rule applies, so a narrow rule comes before a wide one with the same code.
import {
  NO_IMPLICIT_CONVERSION,
  NOT_NULLABLE,
  OPTIONAL_WITHOUT_VALUE,
  LITERAL_OF_CONSTRUCTED,
  NO_OPTIONAL_MEMBERS,
  NO_VALUE,
  NOT_ASSIGNABLE,
  NO_INDEX,
  NO_SUCH_MEMBER,
  NOT_CALLABLE,
  MUST_RETURN,
  NO_OPERATOR,
  ARGUMENT_COUNT,
  TYPE_ARGUMENT_COUNT,
  NO_INITIALIZER,
  type HabitRule,
} from './habit-rule.ts';
import { CLOSURES, MAP_LOOP } from './syntax-habits.ts';

const CALL_SPREAD = 'there is no spread: write a loop over the list';
const READ_NUMBER =
  'parseI32(text), parseI64(text) or parseF64(text) of @svc/guest-sdk gives a Result';

export const TYPE_HABITS: readonly HabitRule[] = [
  // --- null ---
  {
    code: NOT_NULLABLE,
    // Within the parentheses of the parameters.
    before: /\w\([^)]*\w:\s*$/,
    help: 'only classes can be null: give the parameter a default, limit: i32 = 20, or take a list of none or one, limit: i32[] = []',
  },
  {
    code: NOT_NULLABLE,
    help: 'only classes can be null: in a field of a @data class write NullablePatch<T>; else use an array of none or one, a class with the one field, or a member None of the enum',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(.+) \| null' is not assignable to type '\1'/,
    after: /^null\b/,
    help: 'say that it may be null, reader: string | null = null; or give it another value, "" or []',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(Decimal|Duration) \| null' is not assignable to type '\1'/,
    help: 'a check != null narrows no type that has its own !=: const fee = book.fee; if (fee) { … fee.negate() … }; or book.fee! where it cannot be null',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(.+) \| null' is not assignable to type '\1'/,
    help: 'a check narrows a variable, and no field: const reader = book.reader; if (reader !== null) { … reader.length … }; or book.reader! where it cannot be null',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'usize' is not|to type 'usize'/,
    help: 'null by itself has no class: write the type, let reader: string | null = null',
  },
  {
    code: NO_OPTIONAL_MEMBERS,
    help: '@optional name: string = "", or name: string | null = null',
  },
  {
    code: NO_INITIALIZER,
    help: 'write a value: name: string = "", list: Item[] = [], place: Place = new Place()',
  },
  {
    code: OPTIONAL_WITHOUT_VALUE,
    help: 'write the value that it has when it is left out: (copies: i32 = 1), (reader: string | null = null)',
  },

  // --- numbers and text ---
  {
    code: NO_IMPLICIT_CONVERSION,
    line: /\bparse(?:Int|Float)\(/,
    help: READ_NUMBER,
  },
  {
    code: NO_IMPLICIT_CONVERSION,
    after: /^Math\.(?:max|min|abs)\(/,
    help: 'Math computes with f64; max(a, b), min(a, b) and abs(a) take integers',
  },
  {
    code: NO_IMPLICIT_CONVERSION,
    message: /from type 'f(?:32|64)'/,
    help: 'write <i32>value, which drops the fraction, and takes a number that is too large for another: see that it fits before',
  },
  {
    code: NO_IMPLICIT_CONVERSION,
    help: 'keep the wider type, or write <i32>value where you know that it fits: bits that do not are dropped without a word',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(?:[iuf]\d+|bool)' is not assignable to type 'string(?: \| null)?'/,
    help: 'a number becomes text by count.toString(), or in a template: `${count} books`',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'string' is not assignable to type '[iuf]\d+'/,
    before: /\brefuse(?:<[^>]*>)?\(.*,\s*$/,
    help: 'the code is a member of Code: Code.CONFLICT',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'string' is not assignable to type '[iuf]\d+'/,
    help: READ_NUMBER,
  },
  {
    code: NOT_CALLABLE,
    after: /^Number\(/,
    help: `${READ_NUMBER}; <f64>count makes a f64 of an integer`,
  },
  { code: NOT_CALLABLE, after: /^String\(/, help: 'write count.toString()' },
  {
    code: NOT_CALLABLE,
    after: /^Boolean\(/,
    help: 'compare: count != 0, name != "", book !== null',
  },
  ...[NO_VALUE, NOT_CALLABLE].map((code) => ({
    code,
    line: /\b(?:Number|String|Boolean)\(/,
    help: `${READ_NUMBER}; count.toString() is its text; compare with 0, "" and null`,
  })),
  { code: NO_VALUE, help: 'make an object of the class: new Lent()' },
  {
    code: NO_OPERATOR,
    message: /types 'Date' and 'Date'/,
    help: 'compare and subtract the milliseconds: a.getTime() - b.getTime()',
  },
  {
    code: NO_OPERATOR,
    line: /\.sort\(\s*\)/,
    help: 'say what comes first: list.sort((a, b) => a.copies - b.copies)',
  },

  // --- objects and generics ---
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '<object>'/,
    help: 'an object literal needs a type: const book: Book = { title: "Emma" }',
  },
  {
    code: LITERAL_OF_CONSTRUCTED,
    message: /'Map</,
    help: 'write new Map<string, i32>(), and set(key, value) for each entry',
  },
  {
    code: LITERAL_OF_CONSTRUCTED,
    help: 'call its constructor with new, or leave the constructor away: each field has its value',
  },
  {
    code: NO_INDEX,
    help: 'a field is named, book.title; what is looked up by a name is a Map<string, T>',
  },
  { code: TYPE_ARGUMENT_COUNT, line: /Change</, help: 'Change<State, Event> has both types' },
  {
    code: TYPE_ARGUMENT_COUNT,
    help: 'write them: Response<Book>, Map<string, i32>, Page<Book>',
  },
  {
    code: ARGUMENT_COUNT,
    line: /\.\.\./,
    help: CALL_SPREAD,
  },
  {
    code: ARGUMENT_COUNT,
    after: /^new Map\b/,
    help: 'const map = new Map<string, i32>(); map.set("a", 1);',
  },
  {
    code: ARGUMENT_COUNT,
    after: /^new Set\b/,
    help: 'const set = new Set<string>(); set.add("a");',
  },
  {
    code: ARGUMENT_COUNT,
    after: /^new Date\b/,
    help: 'new Date(Date.now()), the time of the call',
  },
  {
    code: ARGUMENT_COUNT,
    after: /^console\./,
    help: 'it takes one text: console.log(`${title}: ${copies}`)',
  },
  {
    code: ARGUMENT_COUNT,
    line: /[rR]eply\(\)/,
    help: 'when there is nothing to say: new Done()',
  },
  { code: MUST_RETURN, help: 'return a value on every way through it, also at its end' },

  // --- timers ---
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(?:[iuf]\d+)' is not assignable to type 'Date'/,
    before: /\bDue\.at\(\s*$/,
    help: 'Due.at takes a Date: Due.at(new Date(ms)); Due.after(900_000) counts from now on',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Duration' is not assignable to type 'i64'/,
    line: /\bDue\.(?:after|every)\(/,
    help: 'write its milliseconds: Due.after(Duration.ofMinutes(15).ms)',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /is not assignable to type 'Due'/,
    help: 'say when: Due.after(900_000), Due.at(date), Due.every(60_000) or Due.cron("0 9 * * *", "Europe/Berlin")',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /is not assignable to type 'DeferredCall'/,
    help: 'a timer takes a command to send later: OrderCall.expire(id), a class that the compiler writes beside OrderClient',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /is not assignable to type 'EntityClient'/,
    before: /\bTimers\.cancel\(/,
    help: 'name the entity by its client: Timers.cancel("remind", new OrderClient(id))',
  },

  // --- entities and endpoints ---
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Change<.*' is not assignable to type 'Effect</,
    help: 'say what the caller gets: this.persist(event).thenReply(new Done())',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Result<.*' is not assignable to type 'Effect</,
    help: 'a command makes its effect with this: this.reply(value), this.refuse<Reply>("…"), this.persist(event).thenReply(value)',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Effect<usize>'/,
    help: 'when there is nothing to say: new Done()',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Result<(.+)>' is not assignable to type '\1'/,
    help: 'look first, if (!result.isOk) …, and take result.value; a handler may return the Result itself',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '(.+)' is not assignable to type 'Result<\1>'/,
    help: 'return ok(value)',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Array</,
    line: /\bpersist\(/,
    help: 'several events: this.persistAll([first, second])',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Array<\w+>' is not assignable to type 'Array<\w+>'/,
    help: 'a list of cases is no list of their base: declare it as one, const events: BookEvent[] = []',
  },
  {
    code: NOT_ASSIGNABLE,
    line: /\b(?:persist|thenPersist)\(/,
    help: 'an event is an object of one of the cases of the event class: const lent: Lent = { reader: "ada" }; this.persist(lent)',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type '\w+' is not assignable to type 'string'/,
    help: 'toJson(value) of @svc/guest-sdk gives the JSON text of a @data class',
  },
  {
    code: NOT_ASSIGNABLE,
    message: /^Type 'Object' is not assignable to type 'Result</,
    after: /\?[^:]*\bok\(/,
    help: 'the two sides of ? : have no common type, since an inferred type argument keeps the | null: write it on both, ok<Loan>(loan) and refuse<Loan>("…")',
  },
  {
    code: NOT_ASSIGNABLE,
    before: /\breturn $/,
    help: 'a function returns what it names after its parameters: return such a value, or name the other type',
  },

  // --- missing members ---
  {
    code: NO_SUCH_MEMBER,
    message: /'then(?:SetTimer|CancelTimer|Persist|Delete)' does not exist on type 'Effect</,
    help: 'the reply comes last: this.persist(event).thenSetTimer("expire", due, call).thenReply(value); or this.setTimer(…) in place of this.persist(event)',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'(?:from|of)' does not exist on type 'Array'/,
    help: 'list.slice(0) makes a copy, [a, b] a list; for another kind of list write a loop',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /on type 'Object'/,
    help: 'the fields of a class are no list: name them, or use a Map<string, T> and its keys() and values()',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'forEach' does not exist on type 'Map/,
    help: MAP_LOOP,
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'find(?:Last)?' does not exist on type 'Array/,
    help: 'const at = list.findIndex((one) => …); if (at >= 0) { … list[at] … }',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'(?:flatMap|flat|entries|keys|values)' does not exist on type 'Array/,
    help: 'for (let i = 0; i < list.length; i++) { … list[i] … }',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'(?:toFixed|toPrecision|toLocaleString)' does not exist on type '[IF]/,
    help: 'keep the number as an integer of the smallest unit, cents, and write its text from that',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'(?:match|matchAll|search)' does not exist on type 'string'/,
    help: 'use includes, startsWith, indexOf, split and charCodeAt of the string',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'randomUUID'/,
    help: 'take the id from the request, or make one of Math.random(), which is seeded for each call',
  },
  {
    code: NO_SUCH_MEMBER,
    message: /'toString' does not exist on type '[A-Z]/,
    help: 'write a method toString(): string into the class, or use toJson(value) of @svc/guest-sdk',
  },
  { code: NO_SUCH_MEMBER, before: /\bthis\.$/, message: /on type '\w+\.\w/, help: CLOSURES },
];
