// OpenApi: the OpenAPI document of the routes that a program defines.
import { openApi as openApiOf, type OpenApiDocument, type OpenApiInfo } from '@svc/contract';
import type { Components } from './components.ts';
import { describeComponents } from './embedded-descriptor.ts';

/**
 * Returns the OpenAPI 3.1 document of the routes of the components, as a value with a JSON form. Throws SVC_DEFINITION_INVALID as
 * `createService` does.
 */
export function openApi(components: Components, info: OpenApiInfo): OpenApiDocument {
  return openApiOf(describeComponents(components), info);
}
