// The entry point of the package @svc/client.
export { ADMITTED_SERVICES_MAX, namesService, type AccessRule } from './access-rule.ts';
export {
  HOSTNAMES_MAX,
  MOUNTS_MAX,
  VARIABLES_BYTES_MAX,
  VARIABLES_MAX,
  VARIABLE_BYTES_MAX,
  VARIABLE_NAME_LENGTH_MAX,
  descriptorProblems,
  projectProblem,
} from './descriptor-problems.ts';
export {
  ANSWERED_BY_HEADER,
  ANSWERED_BY_PROXY,
  CALLER_HEADER,
  FORWARDED_FOR_HEADER,
  FORWARDED_HOST_HEADER,
  FORWARDED_PORT_HEADER,
  FORWARDED_PROTO_HEADER,
  PLATFORM_HEADER_PREFIX,
} from './header-names.ts';
export { hostnameProblem } from './hostname.ts';
export { MOUNT_PATH_LENGTH_MAX, MOUNT_PROTOCOL, mountPathProblem } from './mount-path.ts';
export {
  CALLING_PORT,
  COMPONENT_PROCESS_PORT,
  HTTP_PORT,
  MANAGEMENT_PORT,
  PROCESS_PORT,
  READINESS_PORT,
  REMOTING_PORT,
  RESERVED_PORTS,
  type ReservedPort,
} from './ports.ts';
export { problemLine, type Problem } from './problem.ts';
export {
  PROJECT_ID_LENGTH_MAX,
  SERVICE_NAME_LENGTH_MAX,
  SERVICE_REFERENCE_LENGTH_MAX,
  SERVICE_REFERENCE_PATTERN,
  clusterHost,
  isProjectId,
  isServiceName,
  isServiceReference,
  projectNamespace,
  serviceReferenceOf,
  type ServiceKey,
  type ServiceReference,
} from './service-name.ts';
export {
  PLATFORM_VARIABLES,
  PORT_VARIABLE,
  SERVICES_URL_VARIABLE,
  VARIABLE_NAME,
} from './variable-names.ts';
export { WEB_PROTOCOL, type Mount, type WebServiceDescriptor } from './web-service-descriptor.ts';
