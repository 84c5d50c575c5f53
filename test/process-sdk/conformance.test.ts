// Every SDK passes the same transcripts of the process protocol.
import { join } from 'node:path';
import { processProtocolSuite } from '../suites/process-protocol/process-protocol-suite.ts';
import { python } from '../support/python.ts';
import { servedProgram } from './support/served-program.ts';

const TYPESCRIPT = join(import.meta.dirname, 'typescript/support/conformance-program.ts');
const PYTHON = join(import.meta.dirname, 'python/support/conformance_program.py');

processProtocolSuite('TypeScript', () => servedProgram(process.execPath, TYPESCRIPT));
if (python !== undefined) processProtocolSuite('Python', () => servedProgram(python!, PYTHON));
