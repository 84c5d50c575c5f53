// LimitLabel: the labels of the series that count the faults of a module, the limits that it met, and the failures of
// the runtime. The function is pure.

const SERIES: ReadonlyMap<string, string> = new Map([
  ['svc_guest_faults_total', 'guest faults'],
  ['svc_guest_limit_met_total', 'limit met'],
  ['svc_failures_total', 'failures'],
]);

/**
 * Returns the label of a series: 'svc_guest_faults_total{cause="trap"}' → 'guest faults: trap'. Undefined: the series
 * counts something else.
 */
export function limitLabel(name: string): string | undefined {
  const [series, label] = name.split('{', 2) as [string, string?];
  const words = SERIES.get(series);
  if (words === undefined || label === undefined) return words;
  const value = /"([^"]*)"/.exec(label)?.[1];
  return value === undefined ? words : `${words}: ${value}`;
}
