// The environment variables that the platform gives to a process. A descriptor may not declare them.

/** Port on which the process has to listen. */
export const PORT_VARIABLE = 'PORT';
/** Address at which the process calls other services: `$SVC_SERVICES_URL/<service>/<path>`. */
export const SERVICES_URL_VARIABLE = 'SVC_SERVICES_URL';

/** Port on which a process with components has to listen. */
export const COMPONENT_PORT_VARIABLE = 'SVC_PROCESS_PORT';

/** Variables that no descriptor declares. */
export const PLATFORM_VARIABLES: readonly string[] = [PORT_VARIABLE, SERVICES_URL_VARIABLE];

/** Grammar of the name of a variable that a descriptor declares. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
