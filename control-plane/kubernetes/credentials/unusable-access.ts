// UnusableAccess: the error of a kubeconfig, or of the files of a pod, by which no cluster can be reached. Its message never has a value of theirs.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';

/** Throws SVC_KUBECONFIG_UNUSABLE about one source. */
export type Fail = (problem: string, remedy?: string, cause?: unknown) => never;

/** An object of a file, whose fields are not checked. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `problem`: continues the name of the source: `has no current context`. `remedy`: a sentence. */
export function unusableAccess(
  source: string,
  problem: string,
  remedy: string,
  cause?: unknown,
): SvcError {
  return new SvcError(
    'SVC_KUBECONFIG_UNUSABLE',
    `${printable(source)} ${printable(problem)}. ${remedy}`,
    cause === undefined ? {} : { cause },
  );
}
