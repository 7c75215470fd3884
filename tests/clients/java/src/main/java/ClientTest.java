import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Uses a server as a program in Java does: lists, creates, watches, patches, applies and deletes objects with the client of fabric8. */
public final class ClientTest {
  private static final String NAME = "from-java";

  private static void check(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  public static void main(String[] arguments) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      check(client.namespaces().list().getItems().stream().anyMatch(item -> item.getMetadata().getName().equals("default")), "the namespace default is listed");
      Resource<ConfigMap> one = client.configMaps().inNamespace("default").withName(NAME);
      List<String> events = new CopyOnWriteArrayList<>();
      CountDownLatch deleted = new CountDownLatch(1);
      try (Watch watch = one.watch(new Watcher<ConfigMap>() {
        @Override
        public void eventReceived(Action action, ConfigMap object) {
          events.add(action + " " + object.getData().get("key"));
          if (action == Action.DELETED) deleted.countDown();
        }

        @Override
        public void onClose(WatcherException cause) {
          events.add("closed " + cause);
        }
      })) {
        ConfigMap made = new ConfigMapBuilder().withNewMetadata().withName(NAME).endMetadata().addToData("key", "1").build();
        check(client.configMaps().inNamespace("default").resource(made).create().getMetadata().getUid() != null, "the object has a uid");
        one.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"key\":\"2\"}}");
        made.getData().put("key", "3");
        client.configMaps().inNamespace("default").resource(made).forceConflicts().serverSideApply();
        check(one.get().getData().equals(Map.of("key", "3")), "the object is changed");
        try {
          client.configMaps().inNamespace("default").resource(made).create();
          check(false, "a second object of this name is refused");
        } catch (KubernetesClientException error) {
          check(error.getCode() == 409 && "AlreadyExists".equals(error.getStatus().getReason()), error.toString());
        }
        Deployment deployment = new DeploymentBuilder().withNewMetadata().withName(NAME).endMetadata().withNewSpec().withReplicas(1).withNewSelector()
            .addToMatchLabels("app", NAME).endSelector().withNewTemplate().withNewMetadata().addToLabels("app", NAME).endMetadata().withNewSpec().addNewContainer()
            .withName("c").withImage("i").endContainer().endSpec().endTemplate().endSpec().build();
        check(client.apps().deployments().inNamespace("default").resource(deployment).create().getSpec().getStrategy().getType().equals("RollingUpdate"), "defaults are set");
        check(client.apps().deployments().inNamespace("default").withName(NAME).edit(d -> new DeploymentBuilder(d).editSpec().withReplicas(3).endSpec().build())
            .getSpec().getReplicas() == 3, "the deployment is scaled");
        client.apps().deployments().inNamespace("default").withName(NAME).delete();
        one.delete();
        check(deleted.await(30, TimeUnit.SECONDS), "the deletion is watched: " + events);
        check(events.equals(List.of("ADDED 1", "MODIFIED 2", "MODIFIED 3", "DELETED 3")), events.toString());
      }
    }
    System.out.println("ok");
  }
}
