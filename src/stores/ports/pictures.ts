/** Pictures that were drawn, each under a key that says all it depends on: found again by other processes, and after a restart. */
export type KeptPictures = {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly put: (key: string, png: Uint8Array) => Promise<void>
}
