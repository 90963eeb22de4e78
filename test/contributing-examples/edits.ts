/** What one of CONTRIBUTING.md's examples does to a file: writes it, or puts a text behind, or in the place of, one that is there. */
export type Edit = { readonly file: string } & (
  { readonly written: string } | { readonly find: string; readonly becomes: string }
)

export type Example = {
  /** The section's title in CONTRIBUTING.md. */
  readonly title: string
  readonly edits: readonly Edit[]
}

/** @throws Error where the text to be changed is not there, or stands there twice */
export function edited(edit: Edit, before: string | undefined): string {
  if ('written' in edit) return edit.written
  const parts = before?.split(edit.find) ?? []
  if (parts.length !== 2) throw new Error(`${edit.file} has ${parts.length - 1} of: ${edit.find}`)
  return parts.join(edit.becomes)
}
