/** A request that was answered, as logs and figures have it: no path, no query and no header, since secrets stand there. */
export type Seen = {
  /** The endpoint's name; undefined where nothing was found at the path. */
  readonly endpoint: string | undefined
  readonly method: string
  readonly status: number
  /** From the request's head to the last of the answer that was handed to the connection. */
  readonly milliseconds: number
  /** Of the answer's body. */
  readonly bytes: number
  /** Of whoever was let in as one. */
  readonly account: number | undefined
  readonly requestId: string
  /** As `traceparent` has it. */
  readonly trace?: string | undefined
  readonly address: () => string
}
