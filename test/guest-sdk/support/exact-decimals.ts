// ExactDecimals: decimal arithmetic with BigInt, as the reference for the SDK's.

export const MODES = [
  'UP',
  'DOWN',
  'CEILING',
  'FLOOR',
  'HALF_UP',
  'HALF_DOWN',
  'HALF_EVEN',
] as const;
type Mode = (typeof MODES)[number];
interface Exact {
  readonly value: bigint;
  readonly scale: number;
}
/** An operation in the form of the module's input. */
export interface Sum {
  readonly a: string;
  readonly b: string;
  readonly op: string;
  readonly scale: number;
  readonly rounding: number;
}

export function exact(text: string): Exact {
  const [whole, fraction = ''] = text.split('.');
  return { value: BigInt(whole! + fraction), scale: fraction.length };
}

export function textOf({ value, scale }: Exact): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = scale === 0 ? '' : `.${digits.slice(point)}`;
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

function quotient(over: bigint, under: bigint, mode: Mode): bigint {
  const negative = over < 0n !== under < 0n;
  const [a, b] = [over < 0n ? -over : over, under < 0n ? -under : under];
  const [whole, rest] = [a / b, a % b];
  const half = rest * 2n === b ? 0 : rest * 2n > b ? 1 : -1;
  const up =
    rest !== 0n &&
    {
      UP: true,
      DOWN: false,
      CEILING: !negative,
      FLOOR: negative,
      HALF_UP: half >= 0,
      HALF_DOWN: half > 0,
      HALF_EVEN: half > 0 || (half === 0 && whole % 2n === 1n),
    }[mode];
  const found = up ? whole + 1n : whole;
  return negative ? -found : found;
}

/** Returns a duration as seconds alone, which is not its stored form. */
export function secondsText(ms: bigint): string {
  const magnitude = ms < 0n ? -ms : ms;
  const fraction = (magnitude % 1000n).toString().padStart(3, '0');
  return `${ms < 0n ? '-' : ''}PT${magnitude / 1000n}.${fraction}S`;
}

function aligned({ value, scale: own }: Exact, scale: number): bigint {
  return value * 10n ** BigInt(scale - own);
}

export function expected({ a, b, op, scale, rounding }: Sum): string {
  const [x, y] = [exact(a), exact(b)];
  const most = Math.max(x.scale, y.scale);
  const [left, right] = [aligned(x, most), aligned(y, most)];
  const mode = MODES[rounding]!;
  switch (op) {
    case '+':
      return textOf({ value: left + right, scale: most });
    case '-':
      return textOf({ value: left - right, scale: most });
    case '*':
      return textOf({ value: x.value * y.value, scale: x.scale + y.scale });
    case '/': {
      const over = x.value * 10n ** BigInt(scale + y.scale);
      return textOf({ value: quotient(over, y.value * 10n ** BigInt(x.scale), mode), scale });
    }
    case 'round': {
      const over = x.value * 10n ** BigInt(scale);
      return textOf({ value: quotient(over, 10n ** BigInt(x.scale), mode), scale });
    }
    case 'abs':
      return textOf({ value: x.value < 0n ? -x.value : x.value, scale: x.scale });
    case 'negate':
      return textOf({ value: -x.value, scale: x.scale });
    default: {
      const order = left === right ? 0 : left < right ? -1 : 1;
      return `${order} ${order === 0} ${order === 0} ${order !== 0}`;
    }
  }
}
