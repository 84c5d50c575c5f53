// Ledger: a module with decimals and durations in every possible position, and valid and invalid texts.

export const LEDGER = `import { Decimal, Duration, Done, Effect, EventSourcedEntity, Patch, Result, RoundingMode, ok, register } from "@svc/guest-sdk";
@data class Sum { a: Decimal = new Decimal(); b: Decimal = new Decimal(); op: string = ""; scale: i32 = 0; rounding: i32 = 0; }
@data class Span { a: Duration = new Duration(); b: Duration = new Duration(); factor: i64 = 0; }
@data class Terms { fee: Decimal = Decimal.fromI64(250, 2); period: Duration = Duration.ofDays(14); max: Patch<Decimal> = new Patch(); none: Decimal | null = null; }
@data abstract class Entry {}
@variant("agreed") class Agreed extends Entry { terms: Terms = new Terms(); due: Date[] = []; }
@data class Ledger { terms: Terms = new Terms(); byName: Map<string, Decimal> = new Map(); }
function apply(sum: Sum): string {
  const rounding = <RoundingMode>sum.rounding;
  if (sum.op == "+") return sum.a.add(sum.b).toString();
  if (sum.op == "-") return sum.a.subtract(sum.b).toString();
  if (sum.op == "*") return sum.a.multiply(sum.b).toString();
  if (sum.op == "/") return sum.a.divide(sum.b, sum.scale, rounding).toString();
  if (sum.op == "round") return sum.a.round(sum.scale, rounding).toString();
  if (sum.op == "abs") return sum.a.abs().toString();
  if (sum.op == "negate") return sum.a.negate().toString();
  return sum.a.compare(sum.b).toString() + " " + (sum.a == sum.b).toString() + " " + sum.a.equals(sum.b).toString() + " " + (sum.a != sum.b).toString();
}
@entity("ledger") class LedgerEntity extends EventSourcedEntity<Ledger, Entry> {
  empty(id: string): Ledger { return new Ledger(); }
  apply(state: Ledger, entry: Entry): Ledger {
    if (entry instanceof Agreed) { state.terms = (entry as Agreed).terms; state.byName.set("fee", state.terms.fee); }
    return state;
  }
  @command("agree") agree(state: Ledger, terms: Terms): Effect<Done> {
    const agreed: Agreed = { terms: terms, due: [terms.period.after(new Date(0)), terms.period.before(new Date(0))] };
    return this.persist(agreed).thenReply(new Done());
  }
  @query("get") get(state: Ledger): Ledger { return state.clone(); }
  @query("sums") sums(state: Ledger, sums: Sum[]): string[] { return sums.map<string>((sum) => apply(sum)); }
  @query("i64") i64(state: Ledger, values: i64[]): Decimal[] { return values.map<Decimal>((value) => Decimal.fromI64(value, 3)); }
  @query("parse") parse(state: Ledger, text: string): Result<Decimal> { return Decimal.parse(text); }
  @query("parse-duration") parseDuration(state: Ledger, text: string): Result<Duration> { return Duration.parse(text); }
  @query("decimals") decimals(state: Ledger, texts: string[]): bool[] { return texts.map<bool>((text) => Decimal.parse(text).isOk); }
  @query("durations") durations(state: Ledger, texts: string[]): string[] {
    return texts.map<string>((text) => { const found = Duration.parse(text); return found.isOk ? found.value.toString() : "none"; });
  }
  @query("spans") spans(state: Ledger, spans: Span[]): string[] {
    return spans.map<string>((s) => [s.a.plus(s.b), s.a.minus(s.b), s.a.times(s.factor), s.a.negate(), s.a.abs(),
      Duration.between(s.b.after(new Date(0)), s.a.after(new Date(0))), Duration.ofMs(s.a.ms)]
      .map<string>((one) => one.ms.toString()).join(" ") + " " + s.a.compare(s.b).toString() + " " + (s.a == s.b).toString() + " " + s.a.isNegative.toString());
  }
}
@endpoint("/fees") @access("internet") class Fees {
  @get("/{fee}/per/{period}") fee(fee: Decimal, period: Duration): string { return fee.toString() + " per " + period.toString(); }
  @post("/sums") sums(least: Decimal, since: Duration | null, among: Decimal[] = []): string { return least.toString() + " " + among.join("+") + " " + (since ? since.toString() : "ever"); }
}
register<LedgerEntity>();
register<Fees>();
`;

export const DECIMALS = [
  '0',
  '-1',
  '0.0',
  '12.50',
  '-0.5',
  '100',
  '9'.repeat(100),
  `0.${'0'.repeat(98)}1`,
];
export const NO_DECIMALS = [
  '',
  '-',
  '.',
  '+1',
  '01',
  '00',
  '.5',
  '5.',
  '1e3',
  '1E3',
  '-0',
  '-0.00',
  ' 1',
  '1 ',
  '1,5',
  '1.2.3',
  '--1',
  '0x1',
  'NaN',
  '1_0',
  '٣',
  '9'.repeat(101),
  `0.${'0'.repeat(100)}`,
  '1.-5',
];
export const DURATIONS = [
  ['PT0S', 'PT0S'],
  ['P0D', 'PT0S'],
  ['PT90M', 'PT1H30M'],
  ['PT36H', 'P1DT12H'],
  ['PT0.5S', 'PT0.5S'],
  ['PT1.050S', 'PT1.05S'],
  ['PT60.001S', 'PT1M0.001S'],
  ['-PT5M', '-PT5M'],
  ['P1DT2H3M4.005S', 'P1DT2H3M4.005S'],
  ['P007D', 'P7D'],
  ['P100000000D', 'P100000000D'],
  ['P99999999DT24H', 'P100000000D'],
] as const;
export const NO_DURATIONS = [
  '',
  'P',
  'PT',
  '-P',
  'P1DT',
  '1D',
  'P1',
  'P1W',
  'P1Y',
  'P1M',
  'PT1D',
  'P1H',
  'P1S',
  'PT1M1H',
  'PT1H1H',
  'PT1.5H',
  'PT1.S',
  'PT.5S',
  'PT0.0001S',
  'P-1D',
  '+PT1S',
  'pt1s',
  'PT1S ',
  ' PT1S',
  '-PT0S',
  'PTT1S',
  'PT1,5S',
  'P100000001D',
  'P100000000DT1S',
  `P${'9'.repeat(40)}D`,
  `PT${'0'.repeat(120)}1S`,
];
