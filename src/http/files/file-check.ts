import type { Refusal } from '../../domain/refusal.ts'

/** Looks at a form's file while it flows by. */
export interface FileCheck {
  /** Those that were taken. */
  readonly bytes: number
  /** @throws Refusal as soon as it can't be what is asked for; too-large with the first byte over the limit */
  take(chunk: Buffer): void
  /** @throws Refusal for what is not whole */
  end(): void
}

/** Which files a form may have. */
export type FileRule = {
  /** Bytes at most. */
  readonly limit: number
  readonly check: () => FileCheck
  /** What a form is refused with that says itself that it has more, or whose file is what makes it too large. */
  readonly tooLarge: () => Refusal
}
