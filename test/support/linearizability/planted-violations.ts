// Planted violations change one attempt of a long history that is linearizable, so that it certainly is not afterwards. Each value of
// its registers is set by one operation, and the numbers that its counters add are positive.
import type { Random } from '../random.ts';
import type { CounterInput } from './counter-model.ts';
import type { Attempt } from './history.ts';
import type { RegisterInput } from './register-model.ts';

type OfRegister = Attempt<RegisterInput, number>;
type OfCounter = Attempt<CounterInput, number>;
/** Returns the changed history; undefined if the history has no attempt for it. */
type Planted<Of> = (history: readonly Of[], random: Random) => readonly Of[] | undefined;

export const REGISTER_VIOLATIONS: Readonly<Record<string, Planted<OfRegister>>> = {
  'a stale read': (history, random) =>
    changedRead(history, random, (get, others) => {
      const next = others.find((set) => isSet(set) && precedes(set, get));
      const old = others.find((set) => isSet(set) && next !== undefined && precedes(set, next));
      return old === undefined ? undefined : valueOf(old);
    }),
  'a read from the future': (history, random) =>
    changedRead(history, random, (get, others) => {
      const later = others.find((set) => isSet(set) && precedes(get, set));
      return later === undefined ? undefined : valueOf(later);
    }),
  'a resurrection': (history, random) =>
    changedRead(history, random, (get, others) => {
      const deletion = others.find((one) => isAnswered(one, 'delete') && precedes(one, get));
      const old = others.find(
        (set) => isSet(set) && deletion !== undefined && precedes(set, deletion),
      );
      return old === undefined ? undefined : valueOf(old);
    }),
  'a 503 that has happened': (history, random) => {
    const seen = new Set(history.flatMap((one) => (isAnswered(one, 'get') ? [answerOf(one)] : [])));
    return changed(history, random, (one) =>
      isSet(one) && seen.has(valueOf(one)) ? { ...one, outcome: { kind: 'not-done' } } : undefined,
    );
  },
};

export const COUNTER_VIOLATIONS: Readonly<Record<string, Planted<OfCounter>>> = {
  'a lost write': (history, random) =>
    changedRead(history, random, (get, others) => {
      const added = others.find((add) => isAnswered(add, 'add') && precedes(add, get));
      return added === undefined ? undefined : answerOf(added)! - 1;
    }),
  'a total that no operations have': (history, random) =>
    changedRead(history, random, (_, others) => {
      const all = others.map(({ input }) => (input.kind === 'add' ? input.amount : 0));
      return all.reduce((sum, amount) => sum + amount, 1);
    }),
  'a key that is answered differently': (history, random) => {
    const answered = history.filter((one) => one.key !== undefined && isAnswered(one, 'add'));
    const groups = Map.groupBy(answered, ({ entity, key }) => `${entity} ${key}`);
    return changed(history, random, (one) => {
      const group = groups.get(`${one.entity} ${one.key}`) ?? [];
      if (group.length < 2 || !group.includes(one)) return undefined;
      return { ...one, outcome: { kind: 'answered', output: answerOf(one)! + 1 } };
    });
  },
  'answers that are exchanged': (history, random) => {
    const added = history.filter((one) => one.key === undefined && isAnswered(one, 'add'));
    const first = added.length === 0 ? undefined : random.pick(added);
    const second = added.find((one) => one.entity === first?.entity && precedes(first, one));
    if (first === undefined || second === undefined) return undefined;
    return history.map((one) => {
      if (one === first) return { ...one, outcome: second.outcome };
      return one === second ? { ...one, outcome: first.outcome } : one;
    });
  },
};

/** Changes one of the attempts for which `change` returns another one. */
function changed<Of extends OfRegister | OfCounter>(
  history: readonly Of[],
  random: Random,
  change: (attempt: Of) => Of | undefined,
): readonly Of[] | undefined {
  const possible = history.flatMap((attempt, index) => {
    const other = change(attempt);
    return other === undefined ? [] : [{ index, other }];
  });
  if (possible.length === 0) return undefined;
  const { index, other } = random.pick(possible);
  return history.with(index, other);
}

/** Changes the answer of one of the queries. `answer`: of the query and the other attempts of its entity. */
function changedRead<Of extends OfRegister | OfCounter>(
  history: readonly Of[],
  random: Random,
  answer: (get: Of, others: readonly Of[]) => number | undefined,
): readonly Of[] | undefined {
  const entities = Map.groupBy(history, ({ entity }) => entity);
  return changed(history, random, (one) => {
    if (one.key !== undefined || !isAnswered(one, 'get')) return undefined;
    const output = answer(one, entities.get(one.entity)!);
    return output === undefined ? undefined : { ...one, outcome: { kind: 'answered', output } };
  });
}

function isAnswered({ input, outcome }: OfRegister | OfCounter, kind: string): boolean {
  return input.kind === kind && outcome.kind === 'answered';
}

/** A repeated `set` may have been executed earlier, so those with a key are left out. */
function isSet(attempt: OfRegister): boolean {
  return attempt.key === undefined && isAnswered(attempt, 'set');
}

function valueOf({ input }: OfRegister): number | undefined {
  return input.kind === 'set' ? input.value : undefined;
}

function answerOf({ outcome }: OfRegister | OfCounter): number | undefined {
  return outcome.kind === 'answered' ? outcome.output : undefined;
}

function precedes(one: OfRegister | OfCounter, other: OfRegister | OfCounter): boolean {
  return one.endMs < other.startMs;
}
