//! Uses a server as a program in Rust does: lists, creates, watches, patches, applies and deletes objects with kube.
use futures::TryStreamExt;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace},
};
use kube::{
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    Api, Client, ResourceExt,
};
use serde_json::json;

const NAME: &str = "from-rust";

fn key(map: &ConfigMap) -> String {
    map.data.clone().unwrap_or_default().get("key").cloned().unwrap_or_default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    let namespaces = Api::<Namespace>::all(client.clone()).list(&ListParams::default()).await?;
    assert!(namespaces.iter().any(|item| item.name_any() == "default"));

    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let version = maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap();
    let made: ConfigMap = serde_json::from_value(json!({"metadata": {"name": NAME}, "data": {"key": "1"}}))?;
    assert!(maps.create(&PostParams::default(), &made).await?.metadata.uid.is_some());
    maps.patch(NAME, &PatchParams::default(), &Patch::Merge(json!({"data": {"key": "2"}}))).await?;
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"key": "3"}});
    maps.patch(NAME, &PatchParams::apply("rust").force(), &Patch::Apply(applied)).await?;
    assert_eq!(key(&maps.get(NAME).await?), "3");
    match maps.create(&PostParams::default(), &made).await {
        Err(kube::Error::Api(error)) => assert_eq!((error.code, error.reason.as_str()), (409, "AlreadyExists")),
        other => panic!("a second object of this name is refused, not {other:?}"),
    }

    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": NAME},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": NAME}},
                 "template": {"metadata": {"labels": {"app": NAME}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}))?;
    let created = deployments.create(&PostParams::default(), &deployment).await?;
    assert_eq!(created.spec.unwrap().strategy.unwrap().type_.unwrap(), "RollingUpdate");
    deployments.patch_scale(NAME, &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 3}}))).await?;
    assert_eq!(deployments.get(NAME).await?.spec.unwrap().replicas, Some(3));
    deployments.delete(NAME, &DeleteParams::default()).await?;
    maps.delete(NAME, &DeleteParams::default()).await?;

    // The watch resumes at the list, so it has all events of the object.
    let mut events = Vec::new();
    let parameters = WatchParams::default().fields(&format!("metadata.name={NAME}")).timeout(30);
    let mut watch = Box::pin(maps.watch(&parameters, &version).await?);
    while let Some(event) = watch.try_next().await? {
        match event {
            WatchEvent::Added(map) => events.push(format!("ADDED {}", key(&map))),
            WatchEvent::Modified(map) => events.push(format!("MODIFIED {}", key(&map))),
            WatchEvent::Deleted(map) => {
                events.push(format!("DELETED {}", key(&map)));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(events, ["ADDED 1", "MODIFIED 2", "MODIFIED 3", "DELETED 3"]);
    println!("ok");
    Ok(())
}
