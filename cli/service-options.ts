// ServiceOptions: the options that several commands that serve something have in common.
import type { OptionDescriptions } from './description.ts';

/** The options. Each command has its own defaults for the folder of the journal and the name of the service. */
export const SERVICE_OPTIONS = {
  port: {
    type: 'string',
    value: 'PORT',
    help: 'HTTP port; 0 takes a free one',
    default: '9000',
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'address to listen on',
    default: '127.0.0.1',
  },
  cors: {
    type: 'string',
    value: 'ORIGINS',
    help: `origins whose pages may call routes with @cors, with commas
between: http://localhost:5173`,
  },
  data: {
    type: 'string',
    value: 'DIR',
    help: 'folder of the journal, made when missing',
    completes: { kind: 'folder' },
  },
  log: {
    type: 'string',
    value: 'FORMAT',
    help: "'text' or 'json'",
    otherwise: 'text on a terminal, json elsewhere',
    completes: { kind: 'choices', choices: ['text', 'json'] },
  },
  'process-command': {
    type: 'string',
    value: 'COMMAND',
    help: `starts the process that holds the code, with its port in
SVC_PROCESS_PORT, and keeps it running; there is no shell, and
the process has no sandbox`,
  },
  configuration: {
    type: 'string',
    value: 'FILE',
    help: "values of the module's configuration, in YAML or JSON",
    completes: { kind: 'file', ending: '.yaml' },
  },
  'configuration-folder': {
    type: 'string',
    value: 'DIR',
    help: `folder with a file for each value of the configuration, as
clusters mount secrets`,
    completes: { kind: 'folder' },
  },
  configure: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: 'a value of the configuration that is no secret; may be repeated',
  },
  name: {
    type: 'string',
    value: 'NAME',
    help: 'name of the service',
  },
  'development-tokens': {
    type: 'boolean',
    help: `takes access tokens that svc token makes: anybody who can
read their key can be any caller`,
  },
  set: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: `any other setting, by its dotted name; may be repeated
(docs/reference/settings.md lists them)`,
  },
} as const satisfies OptionDescriptions;
