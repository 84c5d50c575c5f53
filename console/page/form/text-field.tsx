// TextField: a labelled control for a text of one or several lines.
import { visibleText } from '../view/visible-text.ts';

export interface TextFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  /** Number of lines of the control, which is a text area if there are more than one. */
  readonly lines?: number;
  readonly isNumber?: boolean;
  /** Text that an empty control displays; it is never sent. */
  readonly placeholder?: string | undefined;
  readonly onChange: (value: string) => void;
}

export function TextField(props: TextFieldProps) {
  const { id, label, hint, problem } = props;
  return (
    <div class={`field ${problem === undefined ? '' : 'is-wrong'}`}>
      <FieldLabel id={id} label={label} hint={hint} />
      <TextInput {...props} />
      {problem !== undefined && <FieldProblem id={id} problem={problem} />}
    </div>
  );
}

/** Displays the label. The hint describes the control, but is not part of its accessible name. */
export function FieldLabel({ id, label, hint }: Pick<TextFieldProps, 'id' | 'label' | 'hint'>) {
  return (
    <div class="field-label">
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <span class="hint-text" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

export function FieldProblem({ id, problem }: { readonly id: string; readonly problem: string }) {
  return (
    <p class="field-problem" id={`${id}-problem`}>
      {visibleText(problem)}
    </p>
  );
}

/** Displays the control without its label. */
export function TextInput({
  id,
  value,
  hint,
  problem,
  lines = 1,
  isNumber,
  placeholder,
  onChange,
}: TextFieldProps) {
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const common = {
    id,
    value,
    placeholder,
    spellcheck: false,
    autocomplete: 'off',
    'aria-invalid': problem !== undefined,
    'aria-describedby': described || undefined,
  } as const;
  if (lines > 1)
    return (
      <textarea {...common} rows={lines} onInput={(event) => onChange(event.currentTarget.value)} />
    );
  return (
    <input
      {...common}
      type="text"
      inputMode={isNumber ? 'numeric' : undefined}
      class={isNumber ? 'number' : ''}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
