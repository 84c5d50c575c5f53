// ListQueries: what many entities together say. Rows follow events by a few milliseconds, so every list waits until the rows have
// what was stored before it was asked for: a caller finds its own writes, and those of others that were answered before.
//
// Invariants: a list has a bounded number of rows. Who may see which rows is judged by whoever asks.
import { HISTORY_LENGTH_MAX, LIST_LENGTH_MAX } from '@svc/client';
import type { Page, Result, Service, ValueOf, ViewDefinition } from '@svc/host';
import { historyView, type HistoryRow } from './history-view.ts';
import { organizationView, type OrganizationRow } from './organization-view.ts';
import { projectView, type ProjectRow } from './project-view.ts';
import { serviceView, type ServiceRow } from './service-view.ts';

export const views: readonly ViewDefinition[] = [
  organizationView,
  projectView,
  serviceView,
  historyView,
];

const PAGE_MAX = 1_000;

/** The number of children of an organization or a project, by its id. */
export type CountOf = (id: string) => Promise<number>;

export class ListQueries {
  readonly #running: Promise<Service>;

  /** `running`: the service of the views. */
  constructor(running: Promise<Service>) {
    this.#running = running;
  }

  /** Returns all organizations by id, and what counts their projects. */
  async organizations(): Promise<{
    readonly rows: readonly ValueOf<typeof OrganizationRow>[];
    readonly projectsOf: CountOf;
  }> {
    const service = await this.#running;
    const after = service.position();
    const organizations = service.view(organizationView, { after });
    const projects = service.view(projectView, { after });
    return {
      rows: await allRows(LIST_LENGTH_MAX, (cursor) => organizations.all(PAGE_MAX, cursor)),
      projectsOf: async (organization) =>
        counted(await projects.count('ofOrganization', { organization })),
    };
  }

  /** Returns the projects of some organizations by name, and what counts their services. */
  async projects(organizations: readonly string[]): Promise<{
    readonly rows: readonly ValueOf<typeof ProjectRow>[];
    readonly servicesOf: CountOf;
  }> {
    const service = await this.#running;
    const after = service.position();
    const projects = service.view(projectView, { after });
    const services = service.view(serviceView, { after });
    const rows: ValueOf<typeof ProjectRow>[] = [];
    for (const organization of organizations)
      rows.push(
        ...(await allRows(LIST_LENGTH_MAX - rows.length, (cursor) =>
          projects.ofOrganization({ organization }, PAGE_MAX, cursor),
        )),
      );
    return {
      rows: rows.toSorted((a, b) => compare(a.name, b.name) || compare(a.id, b.id)),
      servicesOf: async (project) => counted(await services.count('ofProject', { project })),
    };
  }

  /** Returns the services of a project by name. */
  async services(project: string): Promise<readonly ValueOf<typeof ServiceRow>[]> {
    const service = await this.#running;
    const services = service.view(serviceView, { after: service.position() });
    return await allRows(LIST_LENGTH_MAX, (cursor) =>
      services.ofProject({ project }, PAGE_MAX, cursor),
    );
  }

  /** Returns the entries of the history of a service, the newest first. `id`: `<project>/<name>`. */
  async history(id: string): Promise<readonly ValueOf<typeof HistoryRow>[]> {
    const service = await this.#running;
    const entries = service.view(historyView, { after: service.position() });
    return await allRows(HISTORY_LENGTH_MAX, (cursor) =>
      entries.ofService({ service: id }, PAGE_MAX, cursor),
    );
  }
}

/** Reads pages until there are no more, or enough. */
async function allRows<Row>(
  rowsMax: number,
  read: (cursor: string | undefined) => Promise<Result<Page<Row>>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  while (rows.length < rowsMax) {
    const page = accepted(await read(cursor));
    rows.push(...page.rows);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return rows.slice(0, rowsMax);
}

function counted(result: Result<{ readonly count: number }>): number {
  return accepted(result).count;
}

/** A query of these views is refused only for a cursor that it did not give. */
function accepted<Value>(result: Result<Value>): Value {
  if (result.isOk) return result.value;
  throw new Error(`a view refused a query: ${result.message}`);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
