// FieldFrame: the parts that fields of all kinds share: their properties, the frame around nested fields, and the
// line for a value that is left out or null.
import type { TypeSchema } from '@svc/contract';
import type { ComponentChildren, ComponentType } from 'preact';
import { visibleLine } from '../view/visible-text.ts';
import type { Draft, Types } from './draft.ts';
import type { DraftProblem } from './draft-problems.ts';

export interface FieldProps {
  /** Id of the control, unique in the page. */
  readonly id: string;
  /** Label; empty for the whole value, which needs none. */
  readonly label: string;
  readonly schema: TypeSchema;
  readonly draft: Draft;
  readonly types: Types;
  readonly path: string;
  readonly problems: readonly DraftProblem[];
  /** Content beside the label or the control, such as the switch between a value, null and left out. */
  readonly beside?: ComponentChildren;
  /** Handler for leaving the value out; undefined unless it is an optional field of a record. */
  readonly leaving?: Leaving | undefined;
  /** Fields of a record by name, with the text of the value that the service takes in place of one that is left out. */
  readonly defaults?: ReadonlyMap<string, string> | undefined;
  /** Shown in an empty control, and never sent. */
  readonly placeholder?: string | undefined;
  readonly onChange: (draft: Draft) => void;
}

export interface Leaving {
  readonly isLeftOut: boolean;
  readonly leaveOut: () => void;
  /** Text of the value that the service takes in its place, as far as it is known. */
  readonly defaultText: string | undefined;
}

export type OfKind<Kind extends Draft['kind']> = FieldProps & {
  readonly draft: Extract<Draft, { readonly kind: Kind }>;
  /** Type behind references. */
  readonly type: TypeSchema;
};
/** `Inner` is the component for a field of any type, which the items of a list need. */
export type ListProps = OfKind<'list'> & { readonly Inner: ComponentType<FieldProps> };
export type MapProps = OfKind<'map'> & { readonly Inner: ComponentType<FieldProps> };

export function Closed({
  label,
  hint,
  beside,
}: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly beside: ComponentChildren;
}) {
  return (
    <div class="field is-closed">
      <span class="field-label">{visibleLine(label || 'Value')}</span>
      {hint !== undefined && <span class="hint-text">{visibleLine(hint)}</span>}
      {beside}
    </div>
  );
}

/** Displays nested fields within a frame that has the name of the value around them. */
export function Frame({
  label,
  beside,
  children,
}: {
  readonly label: string;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  if (label === '' && beside === undefined) return <div class="fields">{children}</div>;
  return (
    <div class="field-frame" role="group" aria-label={visibleLine(label || 'Value')}>
      <div class="frame-head">
        <span class="field-label">{visibleLine(label)}</span>
        {beside}
      </div>
      <div class="fields">{children}</div>
    </div>
  );
}
