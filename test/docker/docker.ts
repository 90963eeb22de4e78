import { getContainerRuntimeClient } from 'testcontainers'

/** Whether a container can be started here. */
export const hasDocker = (): Promise<boolean> =>
  getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
