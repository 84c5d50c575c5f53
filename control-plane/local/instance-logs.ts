// InstanceLogs: the output of an instance, from the files in its folder.
import type { InstanceLogs, LogQuery } from '../orchestration/orchestrator.ts';
import { endOfFile } from './file-end.ts';
import type { InstanceFolder } from './instance-folder.ts';

export function logsOf(folder: InstanceFolder, query: LogQuery): InstanceLogs {
  const { name: instance } = folder.spec;
  try {
    if (query.previous && (folder.lastRun?.restarts ?? 0) === 0)
      return { instance, output: '', error: 'it was never restarted' };
    const files = folder.outputFiles(query.previous ? 'previous' : 'last');
    const text = endOfFiles(files, query.bytesMax);
    return { instance, output: lastLines(text, query), error: null };
  } catch (error) {
    return {
      instance,
      output: '',
      // The message of the system has the path of the file.
      error: `its output cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    };
  }
}

/** Returns the end of the files, one after the other, from the beginning of a line. */
function endOfFiles(paths: readonly string[], bytesMax: number): string {
  let text = '';
  for (const path of paths.toReversed()) {
    if (text.length >= bytesMax) break;
    text = (endOfFile(path, bytesMax - text.length) ?? '') + text;
  }
  return text;
}

function lastLines(text: string, { tail, sinceS }: LogQuery): string {
  let lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (sinceS !== undefined) {
    const sinceMs = Date.now() - sinceS * 1000;
    const first = lines.findIndex((line) => (timeOf(line) ?? -1) >= sinceMs);
    lines = first === -1 ? [] : lines.slice(first);
  }
  if (tail !== undefined) lines = tail === 0 ? [] : lines.slice(-tail);
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the time of an entry of a log in JSON, in milliseconds since 1970; undefined for another line. */
function timeOf(line: string): number | undefined {
  try {
    const { time } = JSON.parse(line) as { readonly time?: unknown };
    const ms = typeof time === 'string' ? Date.parse(time) : Number(time);
    return Number.isNaN(ms) ? undefined : ms;
  } catch {
    return undefined;
  }
}
