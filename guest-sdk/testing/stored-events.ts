// StoredEvents: converts an event of a test to its stored form.
import type { StoredEvent } from '@svc/host/tools';
import { jsonText, parsed } from './json-value.ts';

/**
 * Returns the stored form of an event: an object with its `type`, or JSON text. For an invalid event, returns the end
 * of a sentence that says what is wrong.
 */
export function storedEvent(event: object | string, manifest: string): StoredEvent | string {
  let value: unknown = event;
  if (typeof event === 'string')
    try {
      value = parsed(event);
    } catch {
      return `is not JSON: ${event.slice(0, 100)}`;
    }
  if (typeof value !== 'object' || value === null || !('type' in value))
    return `has no type: ${jsonText(value).slice(0, 100)}`;
  return { manifest, json: typeof event === 'string' ? event : jsonText(event) };
}
