/**
 * Live objects as their JSON has them, as far as they are read.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";

/** A Secret: values in base64. */
export interface SecretObject extends KubeObject {
  data?: Record<string, string>;
}

/** A StatefulSet, as far as it is read. */
export interface StatefulSetObject extends KubeObject {
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
  };
}

/** A pod, as far as it is read. */
export interface PodObject extends KubeObject {
  status?: { podIP?: string; conditions?: { type: string; status: string; message?: string }[] };
}

/** A Service, as far as it is read. */
export interface ServiceObject extends KubeObject {
  spec?: { clusterIP?: string };
}
