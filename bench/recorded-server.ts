// RecordedServer: the server of measurements (n) and (n2): a shard and its journal in one process, like `svc run`. The
// recorder is off in every second turn. The server prints its address, and after each turn its requests per second.
//
// Usage: node bench/recorded-server.ts MODULE DATA-FOLDER SLICE-MS
import { readFileSync } from 'node:fs';
import { LoadedService } from './shards.ts';

const [moduleFile, dataFolder, sliceMs] = process.argv.slice(2);
const service = await LoadedService.start(readFileSync(moduleFile!), dataFolder!, 1);
const port = await service.takeTurns(Number(sliceMs), (slice) =>
  process.stdout.write(`${JSON.stringify(slice)}\n`),
);
process.stdout.write(`http://127.0.0.1:${port}\n`);
process.on('SIGTERM', () => process.exit(0));
