// ServiceFile: the descriptor of a service in a file of YAML or JSON.
import { createReadStream } from 'node:fs';
import {
  BODY_BYTES_MAX,
  descriptorProblems,
  problemLine,
  type ServiceDescriptor,
} from '@svc/client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { isRecord } from './contexts.ts';

/** Maximum number of aliases that a file resolves: enough to name a value twice, too few to grow without bound. */
const ALIASES_MAX = 20;

/**
 * Reads a descriptor; `-` is stdin. Every problem is written to stderr. Rejects with SVC_DESCRIPTOR_INVALID.
 */
export async function readServiceFile(path: string): Promise<ServiceDescriptor> {
  return checkedDescriptor(await readServiceValue(path), path);
}

/** Reads what a file says, which may be less than a descriptor. Rejects with SVC_DESCRIPTOR_INVALID. */
export async function readServiceValue(path: string): Promise<unknown> {
  const name = fileName(path);
  return await parsed(name, await textOf(path, name));
}

/** Returns a value that is a descriptor. Every problem is written to stderr. Throws SVC_DESCRIPTOR_INVALID. */
export function checkedDescriptor(value: unknown, path: string): ServiceDescriptor {
  const name = fileName(path);
  const problems = descriptorProblems(value, {});
  if (problems.length === 0 && isRecord(value)) return value as unknown as ServiceDescriptor;
  for (const problem of problems)
    process.stderr.write(`${printable(`${name}: ${problemLine(problem)}`)}\n`);
  throw invalidFile(
    `${name} is not a valid descriptor, for the reasons above. Correct it, and apply it again.`,
  );
}

function fileName(path: string): string {
  return path === '-' ? 'stdin' : path;
}

async function textOf(path: string, name: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    const stream = path === '-' ? process.stdin : createReadStream(path);
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes += part.byteLength;
      if (bytes > BODY_BYTES_MAX)
        throw invalidFile(
          `${name} has more than ${BODY_BYTES_MAX} bytes. Give the descriptor of one service.`,
        );
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw invalidFile(
      `${name} cannot be read (${code}). Give the file of a descriptor with -f.`,
      error,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch (error) {
    throw invalidFile(`${name} is not text in UTF-8. Save it as UTF-8.`, error);
  }
}

async function parsed(name: string, text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: true });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
  } catch (error) {
    // The lines that follow show the source.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw invalidFile(
      `${name} cannot be read as YAML: ${reason!.replace(/:$/, '')}. Correct it there.`,
      error,
    );
  }
}

export function invalidFile(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure('SVC_DESCRIPTOR_INVALID', message, { cause });
}
