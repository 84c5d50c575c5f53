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
  /** Label; empty if the value needs none, such as the body of a request. */
  readonly label: string;
  readonly schema: TypeSchema;
  readonly draft: Draft;
  readonly types: Types;
  /** Path of the value, as in the problems of the draft. */
  readonly path: string;
  readonly problems: readonly DraftProblem[];
  /** Content beside the label or the control, such as the switch between a value, null and left out. */
  readonly beside?: ComponentChildren;
  /** State and handler of leaving the value out; undefined unless the value is an optional field of a record. */
  readonly leaving?: Leaving | undefined;
  /** Defaults of the fields of a record, as text by field name: the service uses them for fields that are left out. */
  readonly defaults?: ReadonlyMap<string, string> | undefined;
  /** Text that an empty control displays; it is never sent. */
  readonly placeholder?: string | undefined;
  readonly onChange: (draft: Draft) => void;
}

export interface Leaving {
  readonly isLeftOut: boolean;
  readonly leaveOut: () => void;
  /** Text of the default that the service uses if the value is left out; undefined if none is known. */
  readonly defaultText: string | undefined;
}

export type OfKind<Kind extends Draft['kind']> = FieldProps & {
  readonly draft: Extract<Draft, { readonly kind: Kind }>;
  /** Type of the value, with references resolved. */
  readonly type: TypeSchema;
};
/**
 * `Inner` is the component for a field of any type, which displays the items of a list or the values of a map. It is a
 * property because field.tsx, which declares it, imports list-field.tsx.
 */
export type ListProps = OfKind<'list'> & { readonly Inner: ComponentType<FieldProps> };
export type MapProps = OfKind<'map'> & { readonly Inner: ComponentType<FieldProps> };

/** Displays the line of a value that is left out or null. */
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

/**
 * Displays nested fields within a frame; its title is the label of the value that contains them. Without a label and
 * `beside`, there is no frame.
 */
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
