/** An operator asked that streams which a read model had set aside be folded again. */
export type RetryRequested = {
  readonly type: 'RetryRequested'
  /** model: a read model's name. streams: at most 100 of those that it had set aside. */
  readonly data: { readonly model: string; readonly streams: readonly string[] }
}

/** The stream in which a model's runner is asked for retries. */
export const retriesStream = (model: string) => `retries-${model}`
