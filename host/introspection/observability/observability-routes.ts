// ObservabilityRoutes: the routes of the observability endpoint and their parameters. Paths, inputs and numbers come
// from the client: an invalid one is refused with 400 and the reason.
import type { Outcome } from '@svc/contract';
import type { EntityRef } from '@svc/model/entity';
import { SPAN_OUTCOMES } from '@svc/model/span-outcome';
import { type ObservedAnswer, problem, shown } from '@svc/kit/observed-answer';
import type { ObservedService } from './observed-service.ts';

const PREFIX = '/observability/';
/** Maximum of the parameter `limit`: for traces, faults, entities, and steps of a history. */
const TRACES_MAX = 1_000;
const FAULTS_MAX = 200;
const ENTITIES_MAX = 1_000;
const STEPS_MAX = 200;
/** A timer may have an input of 64 KiB, and an answer 16 MiB. */
const TIMERS_MAX = 200;
const ROWS_MAX = 1_000;
const LANES_MAX = 1_000;
/** Maximum duration in a filter: a day, in milliseconds. */
const MS_MAX = 24 * 60 * 60 * 1_000;
/** Maximum length of the text in a filter, in UTF-16 code units. */
const TEXT_UNITS_MAX = 200;
const TRACE_ID = /^[0-9a-f]{32}$/;
/** Form of `next` in a list of traces. */
const TRACE_CURSOR = /^\d{13}\.\d{3}\/[0-9a-f]{32}$/;

/** The request is invalid. Thrown and caught in this file. */
class BadRequest extends Error {}

/** Answers a request. `target`: the path and query of its URL. */
export async function observed(service: ObservedService, target: string): Promise<ObservedAnswer> {
  try {
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    if (!path.startsWith(PREFIX)) return nothingHere();
    const [what = '', ...names] = path.slice(PREFIX.length).split('/').map(decoded);
    const given = new Parameters(at < 0 ? '' : target.slice(at + 1));
    return await answered(service, what, names, given);
  } catch (error) {
    if (error instanceof BadRequest) return problem(400, error.message);
    throw error;
  }
}

async function answered(
  service: ObservedService,
  what: string,
  names: readonly string[],
  given: Parameters,
): Promise<ObservedAnswer> {
  const [first = '', second = '', third = ''] = names;
  switch (`${what}/${names.length}`) {
    case 'service/0':
      given.only();
      return shown(service.service());
    case 'traces/0':
      return shown(await service.traces(traceFilter(given)));
    case 'traces/1':
      given.only();
      return traceOf(service, first);
    case 'sessions/1':
      given.only();
      return problem(404, 'There is no such session: the service has no agents.');
    case 'query/3':
      given.only('input');
      return service.query({
        component: first,
        id: second,
        method: third,
        input: inputOf(given.text('input')),
      });
    case 'faults/0':
      given.only('limit');
      return shown(await service.faults(given.number('limit', 100, [1, FAULTS_MAX])));
    case 'live/0':
      given.only();
      return shown(service.live());
    case 'entities/1':
      given.only('prefix', 'after', 'limit');
      return service.entities({
        component: first,
        prefix: given.text('prefix') ?? '',
        afterId: given.text('after') ?? '',
        limit: given.number('limit', 50, [1, ENTITIES_MAX]),
      });
    case 'entities/3':
      if (third !== 'history') return nothingHere();
      given.only('from', 'limit');
      return service.history({
        component: first,
        id: second,
        from: given.number('from', 1, [1, Number.MAX_SAFE_INTEGER]),
        limit: given.number('limit', 50, [1, STEPS_MAX]),
      });
    case 'dev/0': {
      given.only();
      const state = service.dev();
      return state === undefined
        ? problem(404, 'The service is not run by svc dev.')
        : shown(state);
    }
    case 'openapi.json/0':
      given.only();
      return shown(service.openApi());
    default:
      return workAnswered(service, what, names, given);
  }
}

/** Answers for what works beside requests: timers, views and consumers. */
async function workAnswered(
  service: ObservedService,
  what: string,
  names: readonly string[],
  given: Parameters,
): Promise<ObservedAnswer> {
  const [first = '', second = ''] = names;
  switch (`${what}/${names.length}`) {
    case 'timers/0':
      given.only('component', 'id', 'owner', 'state', 'after', 'limit');
      return service.timers({
        owner: ownerOf(given),
        state: given.choice('state', ['pending', 'dead']),
        after: given.number('after', 0, [0, Number.MAX_SAFE_INTEGER]),
        limit: given.number('limit', 50, [1, TIMERS_MAX]),
      });
    case 'views/0':
      given.only();
      return shown(service.views());
    case 'views/2':
      given.only('input', 'limit', 'cursor');
      return service.rows({
        view: first,
        query: second,
        input: inputOf(given.text('input')) ?? '{}',
        limit: given.number('limit', 50, [1, ROWS_MAX]),
        cursor: given.text('cursor'),
      });
    case 'consumers/0':
      given.only();
      return service.consumers();
    case 'consumers/1':
      given.only('state', 'after', 'limit');
      return service.lanes({
        consumer: first,
        state: given.choice('state', ['retrying', 'parked']),
        after: given.number('after', 0, [0, Number.MAX_SAFE_INTEGER]),
        limit: given.number('limit', 50, [1, LANES_MAX]),
      });
    default:
      return nothingHere();
  }
}

async function traceOf(service: ObservedService, traceId: string): Promise<ObservedAnswer> {
  if (!TRACE_ID.test(traceId))
    return problem(400, 'A trace id has 32 hexadecimal digits, in lower case.');
  const detail = await service.trace(traceId);
  if (detail !== undefined) return shown(detail);
  return problem(
    404,
    'No span of this trace is kept: it is not known, or newer ones have taken its place ' +
      '(svc.observability.ring-capacity).',
  );
}

function traceFilter(given: Parameters) {
  given.only('limit', 'component', 'outcome', 'min-duration-ms', 'text', 'after');
  const after = given.text('after');
  if (after !== undefined && !TRACE_CURSOR.test(after))
    throw new BadRequest('after takes the value of next or previous of another page.');
  const text = given.text('text');
  if (text !== undefined && text.length > TEXT_UNITS_MAX)
    throw new BadRequest(`text takes at most ${TEXT_UNITS_MAX} characters.`);
  const outcomes = given.text('outcome')?.split(',');
  for (const outcome of outcomes ?? [])
    if (!SPAN_OUTCOMES.includes(outcome as Outcome))
      throw new BadRequest(`outcome takes ${SPAN_OUTCOMES.join(', ')}, with commas between.`);
  return {
    limit: given.number('limit', 100, [1, TRACES_MAX]),
    component: given.text('component'),
    outcomes: outcomes && new Set(outcomes as Outcome[]),
    minDurationMs: given.milliseconds('min-duration-ms'),
    text,
    after,
  };
}

function ownerOf(given: Parameters): EntityRef | 'service' | undefined {
  const [component, id, owner] = [given.text('component'), given.text('id'), given.text('owner')];
  if (owner === 'service' && component === undefined && id === undefined) return owner;
  if (owner !== undefined) throw new BadRequest("owner takes 'service', without component and id.");
  if (component !== undefined && id !== undefined) return { component, id };
  if (component === undefined && id === undefined) return undefined;
  throw new BadRequest('component and id are given together.');
}

function inputOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new BadRequest(`input takes JSON, and found what is none: ${(error as Error).message}.`);
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BadRequest('The path is no percent-encoded UTF-8.');
  }
}

function nothingHere(): ObservedAnswer {
  return problem(404, 'There is nothing at this path. docs/reference/observability.md lists all.');
}

/** Parameters of a query string. */
class Parameters {
  readonly #given: URLSearchParams;

  constructor(query: string) {
    this.#given = new URLSearchParams(query);
  }

  /** Refuses unknown and repeated names: a misspelt filter, for example, would have no effect. */
  only(...known: readonly string[]): void {
    for (const name of this.#given.keys())
      if (!known.includes(name) || this.#given.getAll(name).length > 1)
        throw new BadRequest(
          known.length === 0
            ? 'This path takes no parameters.'
            : `This path takes ${known.join(', ')}, each once at most.`,
        );
  }

  text(name: string): string | undefined {
    return this.#given.get(name) ?? undefined;
  }

  number(name: string, fallback: number, [least, most]: readonly [number, number]): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new BadRequest(`${name} takes a whole number from ${least} to ${most}.`);
    return value;
  }

  choice<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name);
    const word = words.find((candidate) => candidate === text);
    if (text === undefined || word !== undefined) return word;
    throw new BadRequest(`${name} takes ${words.join(' or ')}.`);
  }

  /** Returns a duration in milliseconds, with fractions; 0 if it is absent. */
  milliseconds(name: string): number {
    const text = this.text(name);
    if (text === undefined) return 0;
    const value = /^[0-9]{1,8}(?:\.[0-9]{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= MS_MAX)) throw new BadRequest(`${name} takes a number from 0 to ${MS_MAX}.`);
    return value;
  }
}
