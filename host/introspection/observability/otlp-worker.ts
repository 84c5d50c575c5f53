// What the thread that exports spans runs: it has OpenTelemetry's exporter, which no other thread loads, and sends what
// it is given in the order in which it came, one export at a time. What a receiver does not take in time is given up.
import { parentPort, workerData } from 'node:worker_threads';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { FromOtlpWorker, OtlpSettings, ToOtlpWorker } from './otlp-messages.ts';
import { readableSpans } from './otlp-span.ts';
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

const WORDS_UNITS_MAX = 300;

const { url, headers, timeoutMs, source } = workerData as OtlpSettings;
const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs });
let readable = readableSpans(source);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromOtlpWorker) => parentPort!.postMessage(message);
let settled: Promise<void> = Promise.resolve();

parentPort!.on('message', (message: ToOtlpWorker) => {
  settled = settled.then(async () => {
    if (message.kind === 'routes') readable = readableSpans({ ...source, routes: message.routes });
    else {
      const { spans } = message;
      tell({ spans: spans.length, problem: await exported(spans) });
    }
  });
});

/** Why they were not. */
async function exported(spans: readonly RecordedSpan[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  // The exporter's own time is begun anew by each byte that comes.
  const timer = setTimeout(
    () =>
      resolve(`There was no answer within ${timeoutMs} ms (svc.observability.export-timeout-ms).`),
    timeoutMs,
  );
  exporter.export(spans.map(readable), ({ error }) =>
    resolve(error === undefined ? undefined : problemOf(error)),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Its words and the status of the answer, without the answer's body. */
function problemOf({ message, code }: Error & { readonly code?: number | string }): string {
  return `${message}${code === undefined ? '' : ` (${code})`}`.slice(0, WORDS_UNITS_MAX);
}
