/** How a page was asked for. */
export type Opening = {
  /** The one that opened it, empty where none was needed. */
  readonly signature: string
  /** What relative addresses begin with: `upFrom`. */
  readonly up: string
}
