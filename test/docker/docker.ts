import { getContainerRuntimeClient } from 'testcontainers'

/** A real server for contract suites: what it is, where it is, and how it ends. */
export type RealServer = { readonly name: string; readonly url: string; stop(): Promise<void> }

/** Whether a container can be started here. */
export const hasDocker = (): Promise<boolean> =>
  getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
