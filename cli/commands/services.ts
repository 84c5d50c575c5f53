// svc service …: the services of a project. Each command is one call of one route.
import type { ServiceStatus } from '@svc/client';
import { EXIT_CODE } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { followLogs } from '../platform/log-follower.ts';
import { logText } from '../platform/log-lines.ts';
import { PROJECT_OPTION, projectOf, SERVICE_WORD } from '../platform/project-option.ts';
import { routeCommand, type RouteCommand } from '../platform/route-command.ts';
import { readServiceFile } from '../platform/service-file.ts';
import type { Target } from '../platform/target.ts';
import { printData } from '../terminal.ts';

interface ProjectValue {
  readonly project: string | undefined;
}

/** Makes the input of a command whose only word is the service. */
function serviceInput(command: string) {
  return ([name]: readonly string[], options: ProjectValue, target: Target) => ({
    projectId: projectOf(command, options, target),
    name: name!,
  });
}

function statusFields(status: ServiceStatus) {
  const { readyInstances, desiredInstances, confirmed, hosting, protocol } = status;
  return {
    name: status.name,
    project: status.projectId,
    state: `${status.lifecycle}${confirmed ? '' : ' (as last known: nothing current was observed)'}`,
    detail: status.detail,
    instances: `${readyInstances} of ${desiredInstances} ready`,
    generation: String(status.generation),
    image: status.image,
    hosting: protocol === undefined ? hosting : `${hosting}, ${protocol}`,
    database: status.database,
    url: status.hostname,
  };
}

export const serviceList = routeCommand(
  'listServices',
  {
    name: 'service list',
    summary: 'list the services of a project',
    about: 'Lists the services of a project, with what runs of them.',
    words: [],
    options: { project: PROJECT_OPTION },
    examples: ['svc service list', 'svc service list --project shop -o json'],
  },
  {
    input: (_words, options, target) => ({
      projectId: projectOf('service list', options, target),
    }),
    table: {
      heads: ['name', 'state', 'ready', 'generation', 'url', 'image'],
      rows: (services) =>
        services.map((service) => [
          service.name,
          service.lifecycle,
          `${service.readyInstances}/${service.desiredInstances}`,
          String(service.generation),
          service.hostname ?? '',
          service.image,
        ]),
    },
    names: (services) => services.map(({ name }) => name),
    note: (services, { projectId }) =>
      services.length > 0
        ? undefined
        : `The project ${projectId} has no services. Apply one with svc service apply -f service.yaml.`,
  },
);

export const serviceGet = routeCommand(
  'getService',
  {
    name: 'service get',
    summary: 'show the status of a service',
    about: 'Shows what a service should be, and what runs of it.',
    words: [SERVICE_WORD],
    options: { project: PROJECT_OPTION },
    examples: ['svc service get cart'],
  },
  { input: serviceInput('service get'), fields: statusFields },
);

export const serviceApply = routeCommand(
  'applyService',
  {
    name: 'service apply',
    summary: 'create or change a service',
    about: `Creates a service from its descriptor, or changes it. Even if nothing has changed, the generation
increases and the tag of the image is pulled again. A paused service stays paused.`,
    words: [],
    options: {
      file: {
        type: 'string',
        short: 'f',
        value: 'FILE.yaml',
        help: "descriptor as YAML or JSON; '-' is stdin; required",
        completes: { kind: 'file', ending: '.yaml' },
      },
      project: PROJECT_OPTION,
    },
    examples: ['svc service apply -f service.yaml'],
  },
  {
    input: async (_words, { file, project }, target) => {
      if (file === undefined)
        throw new UsageError('service apply needs the file of a descriptor: -f service.yaml.');
      const projectId = projectOf('service apply', { project }, target);
      const body = await readServiceFile(file);
      return { projectId, name: body.name, body };
    },
    fields: statusFields,
  },
);

type ChangingRoute = `${'pause' | 'resume' | 'restart' | 'expose' | 'unexpose'}Service`;

/** Creates a command that changes a service by a route without a body. */
function change(route: ChangingRoute, name: string, summary: string, about: string): RouteCommand {
  const description = {
    name: `service ${name}`,
    summary,
    about,
    words: [SERVICE_WORD],
    options: { project: PROJECT_OPTION },
    examples: [`svc service ${name} cart`],
  };
  return routeCommand(route, description, {
    input: serviceInput(description.name),
    fields: statusFields,
  });
}

export const servicePause = change(
  'pauseService',
  'pause',
  'stop every instance of a service',
  'Stops every instance of a service. Its descriptor, database and hostname are kept.',
);
export const serviceResume = change(
  'resumeService',
  'resume',
  'start a paused service again',
  'Starts the instances of a paused service again.',
);
export const serviceRestart = change(
  'restartService',
  'restart',
  'replace every instance of a service',
  'Replaces every instance of a service, one after the other.',
);
export const serviceExpose = change(
  'exposeService',
  'expose',
  'let the internet reach a service',
  'Lets the internet reach a service at its derived hostname, which the status shows as its URL.',
);
export const serviceUnexpose = change(
  'unexposeService',
  'unexpose',
  'end the exposure of a service',
  'Ends the exposure of a service. Nothing else changes.',
);

export const serviceLogs = routeCommand(
  'getServiceLogs',
  {
    name: 'service logs',
    summary: 'show recent output of a service',
    about: `Shows recent output of the instances of a service. With -f, also what follows, from all instances,
also those of later generations, until ctrl-c.`,
    words: [SERVICE_WORD],
    options: {
      follow: {
        type: 'boolean',
        short: 'f',
        help: 'continue with new lines, asked for each second',
      },
      instance: { type: 'string', value: 'NAME', help: 'only this instance' },
      previous: { type: 'boolean', help: 'output before the last restart of the instance' },
      tail: { type: 'string', value: 'N', help: 'only the last lines' },
      since: { type: 'string', value: 'SECONDS', help: 'only the last seconds' },
      project: PROJECT_OPTION,
    },
    notes: `Control characters in the output are escaped; -o json has them as JSON writes them.`,
    examples: ['svc service logs cart --tail 100', 'svc service logs cart -f'],
  },
  {
    input: (words, { instance, previous, tail, since, project }, target) => ({
      ...serviceInput('service logs')(words, { project }, target),
      ...(instance === undefined ? {} : { instance }),
      ...(previous ? { previous } : {}),
      ...(tail === undefined ? {} : { tail: countOf('--tail', tail) }),
      ...(since === undefined ? {} : { since: countOf('--since', since) }),
    }),
    print: async (answer) => void (await printData(logText(answer))),
    instead: (platform, input, { follow, previous, output }) => {
      if (!follow) return undefined;
      if (previous) throw new UsageError('service logs takes -f or --previous, not both.');
      if (output === 'json') throw new UsageError('service logs takes -f or -o json, not both.');
      return followLogs(platform, input).then(() => EXIT_CODE.ok);
    },
  },
);

function countOf(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`service logs takes a whole number as ${option}, and found '${text}'.`);
}

export const serviceHistory = routeCommand(
  'getServiceHistory',
  {
    name: 'service history',
    summary: 'list the changes of a service',
    about: 'Lists the changes of a service, the newest first: who made which when.',
    words: [SERVICE_WORD],
    options: { project: PROJECT_OPTION },
    examples: ['svc service history cart'],
  },
  {
    input: serviceInput('service history'),
    table: {
      heads: ['at', 'change', 'generation', 'by'],
      rows: (entries) =>
        entries.map(({ at = '', kind, generation, actor }) => [
          at,
          kind,
          String(generation),
          actor === undefined
            ? ''
            : `${actor.display}${actor.administrative ? ' (platform administrator)' : ''}`,
        ]),
    },
  },
);

export const serviceDelete = routeCommand(
  'deleteService',
  {
    name: 'service delete',
    summary: 'delete a service',
    about: `Deletes a service. Its database is kept: a service that is applied with the same name later has
it.`,
    words: [SERVICE_WORD],
    options: { project: PROJECT_OPTION },
    examples: ['svc service delete cart', 'svc service delete cart --yes'],
  },
  {
    input: serviceInput('service delete'),
    question: ({ projectId, name }) =>
      `Delete the service ${name} of the project ${projectId}? Its database is kept.`,
    note: (_answer, { projectId, name }) =>
      `Deleted the service ${name} of the project ${projectId}. Its database is kept.`,
  },
);
