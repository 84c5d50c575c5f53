// ProjectOption: the project of the commands for services.
import type { OptionDescription, WordDescription } from '../description.ts';
import { UsageError } from '../usage-error.ts';
import type { Target } from './target.ts';

export const PROJECT_OPTION = {
  type: 'string',
  short: 'p',
  value: 'ID',
  help: 'project',
  otherwise: "SVC_PROJECT, or the context's project",
  completes: { kind: 'names', command: 'project list' },
} as const satisfies OptionDescription;

export const SERVICE_WORD: WordDescription = {
  name: 'NAME',
  completes: { kind: 'names', command: 'service list' },
};

/** Returns the project of a command. Throws UsageError if none is chosen. */
export function projectOf(
  command: string,
  { project }: { readonly project: string | undefined },
  target: Target,
): string {
  const projectId = project ?? target.project;
  if (projectId !== undefined) return projectId;
  throw new UsageError(
    `${command} needs a project: give --project ID, set SVC_PROJECT, or svc context set NAME --project ID.`,
  );
}
