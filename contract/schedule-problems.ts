// ScheduleProblems: the problems of a descriptor's schedules that a schema cannot find.
import { cronProblem } from './cron-expression.ts';
import { jsonMismatch } from './json-mismatch.ts';
import type {
  EntityDescriptor,
  ModuleDescriptor,
  ScheduleDescriptor,
} from './module-descriptor-schema.ts';
import { timeZoneProblem } from './time-zone.ts';
import { SCHEDULE_INPUT_BYTES_MAX } from './view-limits.ts';

/** Finds the problems one after another, so that the caller stops the work when it has enough of them. */
export function* scheduleProblems(descriptor: ModuleDescriptor): Iterable<string> {
  const ids = new Set<string>();
  for (const schedule of descriptor.schedules ?? []) {
    const { id } = schedule;
    if (ids.has(id)) yield `schedule '${id}' is declared twice`;
    ids.add(id);
    for (const problem of problemsOf(schedule, descriptor)) yield `schedule '${id}': ${problem}`;
  }
}

function* problemsOf(schedule: ScheduleDescriptor, descriptor: ModuleDescriptor): Iterable<string> {
  const { target, due } = schedule;
  const entity = descriptor.entities.find(({ component }) => component === target.component);
  if (entity === undefined) yield `there is no entity '${target.component}'`;
  else yield* commandProblems(schedule, entity, descriptor);
  if (due.kind === 'every') return;
  const expression = cronProblem(due.expression);
  if (expression !== undefined) yield `the expression '${due.expression}' ${expression}`;
  const zone = timeZoneProblem(due.zone);
  if (zone !== undefined) yield `the time zone '${due.zone}' ${zone}`;
}

function* commandProblems(
  { command, input = 'null' }: ScheduleDescriptor,
  entity: EntityDescriptor,
  { types }: ModuleDescriptor,
): Iterable<string> {
  const named = ({ name }: { readonly name: string }) => name === command;
  const handler = entity.commands.find(named);
  const label = `'${command}' of entity '${entity.component}'`;
  if (handler === undefined) {
    yield entity.queries.some(named)
      ? `${label} is a query, and a schedule sends a command`
      : `there is no command ${label}`;
    return;
  }
  const bytes = new TextEncoder().encode(input).length;
  if (bytes > SCHEDULE_INPUT_BYTES_MAX) {
    yield `its input has ${bytes} bytes, and a command that is sent later takes ${SCHEDULE_INPUT_BYTES_MAX}`;
    return;
  }
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    yield 'its input is not JSON';
    return;
  }
  const mismatch = jsonMismatch(value, handler.input ?? { type: 'null' }, types);
  if (mismatch !== undefined) yield `its input does not fit the command ${label}: ${mismatch}`;
}
