//! The two libraries, opened at run time, as typed tables of the functions used here.

use std::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;
use rdma_sys::{
    ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_device_attr, ibv_mr, ibv_pd,
    ibv_port_attr, ibv_qp_init_attr, rdma_cm_event, rdma_cm_id, rdma_conn_param,
    rdma_event_channel, rdma_port_space,
};

use super::error::{Reason, VerbsError};

/// The dynamic loader's message, which libloading keeps as the source of its own.
fn loader_words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Declares a table of function pointers and how to fill it from a shared library.
macro_rules! function_table {
    ($(#[$doc:meta])* $table:ident from $soname:literal { $(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $table {
            fn open() -> Result<&'static Self, VerbsError> {
                let missing = |what: &str, error: libloading::Error| {
                    VerbsError::new("opening", what, Reason::Loader(loader_words(&error)))
                };
                // SAFETY: the library's initialisers only set up its own state, and it stays loaded
                // for the life of the process (below).
                let library = unsafe { Library::new($soname) }.map_err(|error| missing($soname, error))?;
                let table = Self {
                    $($name: {
                        // SAFETY: the type is that of the function in the library's public header,
                        // whose ABI is fixed by its soname.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *symbol.map_err(|error| missing(concat!(stringify!($name), " in ", $soname), error))?
                    },)*
                };
                // Providers register themselves with the library and handles call into it from
                // their drops: it must never be unloaded.
                std::mem::forget(library);
                Ok(Box::leak(Box::new(table)))
            }

            /// The table, opened at the first successful call.
            ///
            /// # Errors
            /// The loader's own words when the library, or a function in it, is missing.
            pub(crate) fn get() -> Result<&'static Self, VerbsError> {
                static TABLE: OnceLock<&'static $table> = OnceLock::new();
                if let Some(table) = TABLE.get() {
                    return Ok(table);
                }
                let table = Self::open()?;
                Ok(TABLE.get_or_init(|| table))
            }
        }
    };
}

function_table! {
    /// libibverbs. Posting and polling are not here: they go through the operations in
    /// `ibv_context` (inline in the C header).
    Ibverbs from "libibverbs.so.1" {
        fn ibv_get_device_list(*mut c_int) -> *mut *mut ibv_device;
        fn ibv_free_device_list(*mut *mut ibv_device);
        fn ibv_get_device_name(*mut ibv_device) -> *const c_char;
        fn ibv_get_device_guid(*mut ibv_device) -> u64;
        fn ibv_query_device(*mut ibv_context, *mut ibv_device_attr) -> c_int;
        // The exported function fills the header's compatibility struct, a prefix of
        // `ibv_port_attr` up to `flags`.
        fn ibv_query_port(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
        fn ibv_alloc_pd(*mut ibv_context) -> *mut ibv_pd;
        fn ibv_dealloc_pd(*mut ibv_pd) -> c_int;
        fn ibv_reg_mr(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
        fn ibv_dereg_mr(*mut ibv_mr) -> c_int;
        fn ibv_create_cq(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
        fn ibv_destroy_cq(*mut ibv_cq) -> c_int;
    }
}

function_table! {
    /// librdmacm.
    Rdmacm from "librdmacm.so.1" {
        fn rdma_create_event_channel() -> *mut rdma_event_channel;
        fn rdma_destroy_event_channel(*mut rdma_event_channel);
        fn rdma_create_id(*mut rdma_event_channel, *mut *mut rdma_cm_id, *mut c_void, rdma_port_space::Type) -> c_int;
        fn rdma_destroy_id(*mut rdma_cm_id) -> c_int;
        fn rdma_bind_addr(*mut rdma_cm_id, *mut libc::sockaddr) -> c_int;
        fn rdma_resolve_addr(*mut rdma_cm_id, *mut libc::sockaddr, *mut libc::sockaddr, c_int) -> c_int;
        fn rdma_resolve_route(*mut rdma_cm_id, c_int) -> c_int;
        fn rdma_create_qp(*mut rdma_cm_id, *mut ibv_pd, *mut ibv_qp_init_attr) -> c_int;
        fn rdma_destroy_qp(*mut rdma_cm_id);
        fn rdma_connect(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int;
        fn rdma_listen(*mut rdma_cm_id, c_int) -> c_int;
        fn rdma_accept(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int;
        fn rdma_disconnect(*mut rdma_cm_id) -> c_int;
        fn rdma_get_cm_event(*mut rdma_event_channel, *mut *mut rdma_cm_event) -> c_int;
        fn rdma_ack_cm_event(*mut rdma_cm_event) -> c_int;
        fn rdma_get_src_port(*mut rdma_cm_id) -> u16;
        fn rdma_set_option(*mut rdma_cm_id, c_int, c_int, *mut c_void, usize) -> c_int;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    function_table! {
        /// A library that no host has.
        #[expect(dead_code, reason = "it cannot be opened")]
        Absent from "libroce-setup-absent.so.1" {
            fn absent() -> c_int;
        }
    }

    function_table! {
        /// A library that every host has, without this function.
        #[expect(dead_code, reason = "it cannot be opened")]
        Lacking from "libc.so.6" {
            fn roce_setup_absent() -> c_int;
        }
    }

    #[test]
    fn a_missing_library_and_a_missing_function_are_said_in_the_loaders_words() {
        let told =
            |error: Option<VerbsError>| error.map(|error| error.to_string()).unwrap_or_default();
        let library = told(Absent::get().err());
        let words = "opening libroce-setup-absent.so.1: libroce-setup-absent.so.1: cannot open shared object file: No such file or directory";
        assert_eq!(library, words);
        let function = told(Lacking::get().err());
        assert!(function.starts_with("opening roce_setup_absent in libc.so.6: "), "{function}");
        assert!(function.ends_with("undefined symbol: roce_setup_absent"), "{function}");
    }
}
